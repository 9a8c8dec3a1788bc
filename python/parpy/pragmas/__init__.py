"""`#pragma` comments: their grammar, the statements that they stand in front of, and what they ask of the compiler."""
