import torch
import transformers
