from .modules import ManualModule
