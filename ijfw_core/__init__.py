"""The kernel: stages, order, safety and files. It knows no rule, no platform and no model.

Plugins may import `ijfw_core.text`, `ijfw_core.grammar` and `ijfw_core.testing`, nothing else.
"""

__version__ = "0.1.0"
