// test run
// set n = 5
// set nz = 9
// array Lp = 0 2 4 6 8 9
// array Li = 0 2 1 3 2 4 3 4 4
// array Lx = 2 1 3 1 4 2 5 1 2
// array x = 1 2 3 4 5
// array w = zeros
#define csi int
#define CS_FLIP(i) (-(i)-2)
#define CS_UNFLIP(i) (((i) < 0) ? CS_FLIP(i) : (i))
#define CS_MARKED(w,j) (w [j] < 0)
#define CS_MARK(w,j) { w [j] = CS_FLIP (w [j]) ; }
csi cs_lsolve (csi n, csi nz, const csi Lp [n + 1], const csi Li [nz], const double Lx [nz], double x [n], csi w [n])
{
    csi p, j ;
    for (j = 0 ; j < n ; j++)
    {
        x [j] /= Lx [Lp [j]] ;
        for (p = Lp [j]+1 ; p < Lp [j+1] ; p++)
        {
            x [Li [p]] -= Lx [p] * x [j] ;
        }
    }
    for (j = 0 ; j < n ; j++)
    {
        if (j % 2) CS_MARK (w, j) ;
        if (CS_MARKED (w, j)) w [j] = CS_UNFLIP (w [j]) + 7 ;
    }
    return (1) ;
}
// ----
// return = 1
// w = 0 7 0 7 0
// x = 0.5 0.6666666666666666 0.625 0.6666666666666667 1.5416666666666665
