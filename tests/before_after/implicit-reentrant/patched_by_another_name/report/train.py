import patches
from model import Stack

patches.one_variant()
print(Stack([]))
