"""Pictures of what an engine holds, for documentation and for looking inside.

`xtrie` shows the trie and the substring-table of "Efficient filtering of XML documents with XPath
expressions" for some expressions: as SVG, laid out here, or as text for graphviz.
"""

from pathcast.draw.structure import Row, TrieNode, XTrieStructure, xtrie

__all__ = ["Row", "TrieNode", "XTrieStructure", "xtrie"]
