"""Reviews and verdicts joined into ratings: what policies are fitted to, and watched by."""
