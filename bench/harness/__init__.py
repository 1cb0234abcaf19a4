"""What every benchmark uses: candidates in turns, three columns, kept figures, checked answers."""
