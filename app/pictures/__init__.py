"""From a trace to a picture: fold, place, draw. Pure: no file, socket, clock or random source."""
