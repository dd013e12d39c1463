from .memory import *
