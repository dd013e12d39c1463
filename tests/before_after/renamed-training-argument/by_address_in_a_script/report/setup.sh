#!/bin/bash
pip install -r requirements.txt
pip install "git+https://github.com/somebody/transformers.git@faster"
