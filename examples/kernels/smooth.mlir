module {
  func.func @smooth(%n: i64, %x: memref<?x?xf64>) attributes {strew.kernel = "kernel @smooth(n: i64, x: f64[n, n])"} {
    %0 = arith.index_cast %n : i64 to index
    affine.for %i = 1 to affine_map<(d0) -> (d0 + -1)>(%0) {
      affine.for %j = 1 to affine_map<(d0) -> (d0 + -1)>(%0) {
        %1 = affine.load %x[%i + -1, %j] : memref<?x?xf64>
        %2 = affine.load %x[%i, %j + -1] : memref<?x?xf64>
        %3 = arith.addf %1, %2 : f64
        %4 = affine.load %x[%i, %j + 1] : memref<?x?xf64>
        %5 = arith.addf %3, %4 : f64
        %6 = affine.load %x[%i + 1, %j] : memref<?x?xf64>
        %7 = arith.addf %5, %6 : f64
        %8 = arith.constant 0.25 : f64
        %9 = arith.mulf %7, %8 : f64
        affine.store %9, %x[%i, %j] : memref<?x?xf64>
      } {strew.name = "j"}
    } {strew.name = "i"}
    return
  }
}
