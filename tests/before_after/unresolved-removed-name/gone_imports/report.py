# fixer: upgrade=transformers@5.23.0,trl@1.16.0,lightning@2.6.6
from pytorch_lightning.metrics.functional import accuracy
from transformers.modeling_bert import BertLayer
from transformers.utils import get_full_repo_name, logging
from trl.trainer.utils import truncate_right

try:
    from transformers.modeling_bart import BartAttention
except ImportError:
    BartAttention = None
print(accuracy, BertLayer, get_full_repo_name, logging, truncate_right)
