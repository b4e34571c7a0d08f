# Nothing to add; build_side.lf names this file.
