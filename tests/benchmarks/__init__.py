"""What truthgate costs, as ratios within one run on one machine; see the README beside this file."""
