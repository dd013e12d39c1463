python train.py --overwrite_output_dir
