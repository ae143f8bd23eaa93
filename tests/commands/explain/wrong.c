void k(int n, double x[n]) { x[0] = y; }
