"""Looking at programs and searching their mappings: parpy.explain, parpy.tune."""
