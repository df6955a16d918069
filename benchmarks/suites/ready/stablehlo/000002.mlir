// stablehlo.uniform_quantize/float32/int8/shape-7-0
module {
  func.func @main() {
    %input = "stablehlo.constant"() <{value = dense<[0xC1000000, 0xC0900000, 0xBF800000, 0x40200000, 0x40C00000, 0xC0E00000, 0xC0600000]> : tensor<7xf32>}> : () -> tensor<7xf32>
    %found = "stablehlo.uniform_quantize"(%input) : (tensor<7xf32>) -> tensor<7x!quant.uniform<i8:f32:0, {1.00000000000000000e+00:0,1.12500000000000000e+00:1,1.25000000000000000e+00:2,1.37500000000000000e+00:3,1.50000000000000000e+00:4,1.62500000000000000e+00:5,1.75000000000000000e+00:6}>>
    %number = "stablehlo.uniform_dequantize"(%found) : (tensor<7x!quant.uniform<i8:f32:0, {1.00000000000000000e+00:0,1.12500000000000000e+00:1,1.25000000000000000e+00:2,1.37500000000000000e+00:3,1.50000000000000000e+00:4,1.62500000000000000e+00:5,1.75000000000000000e+00:6}>>) -> tensor<7xf32>
    "check.expect_eq_const"(%number) <{value = dense<[0xC1000000, 0xC0900000, 0xBFA00000, 0x40300000, 0x40C00000, 0xC0D00000, 0xC0600000]> : tensor<7xf32>}> : (tensor<7xf32>) -> ()
    return
  }
}
