python main.py --output_dir out --evaluation_strategy steps --warmup-ratio=0.1 --logging_dir logs
torchrun --nproc_per_node 2 main.py --output_dir out --eval_strategy no --no_cuda
python other.py --evaluation_strategy steps
