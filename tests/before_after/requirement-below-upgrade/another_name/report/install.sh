conda install -y pytorch==1.12.1 torchvision==0.13.1 -c pytorch
pip install wheel
