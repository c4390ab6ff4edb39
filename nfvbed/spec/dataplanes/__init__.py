"""What a variant's file may say of each data plane: one module each."""
