@echo off
pip install "pytorch-lightning~=1.9.0" torch
