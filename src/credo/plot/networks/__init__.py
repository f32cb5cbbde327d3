"""The picture of a network: what is drawn, where, as SVG and with matplotlib."""
