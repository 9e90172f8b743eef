"""The outputs: SVG, the player's document, the canvas's document, Plotly figures."""
