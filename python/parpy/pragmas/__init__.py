"""`#pragma` comments: their grammar, the statements that they belong to, and their requests to the compiler."""
