"""What a run costs however short it is."""

print("LOOP_S=0")
