"""What is drawn: SVG, the player's document, the canvas, Plotly figures."""
