// stablehlo.uniform_quantize/float32/int8/shape-3x2x3-1
module {
  func.func @main() {
    %input = "stablehlo.constant"() <{value = dense<[[[0xC1000000, 0xC0900000, 0xBF800000], [0x40200000, 0x40C00000, 0xC0E00000]], [[0xC0600000, 0x00000000, 0x40600000], [0x40E00000, 0xC0C00000, 0xC0200000]], [[0x3F800000, 0x40900000, 0x41000000], [0xC0A00000, 0xBFC00000, 0x40000000]]]> : tensor<3x2x3xf32>}> : () -> tensor<3x2x3xf32>
    %found = "stablehlo.uniform_quantize"(%input) : (tensor<3x2x3xf32>) -> tensor<3x2x3x!quant.uniform<i8:f32:1, {1.00000000000000000e+00:0,1.12500000000000000e+00:1}>>
    %number = "stablehlo.uniform_dequantize"(%found) : (tensor<3x2x3x!quant.uniform<i8:f32:1, {1.00000000000000000e+00:0,1.12500000000000000e+00:1}>>) -> tensor<3x2x3xf32>
    "check.expect_eq_const"(%number) <{value = dense<[[[0xC1000000, 0xC0800000, 0xBF800000], [0x40100000, 0x40B40000, 0xC0D80000]], [[0xC0800000, 0x00000000, 0x40800000], [0x40D80000, 0xC0B40000, 0xC0100000]], [[0x3F800000, 0x40800000, 0x41000000], [0xC0900000, 0xBF900000, 0x40100000]]]> : tensor<3x2x3xf32>}> : (tensor<3x2x3xf32>) -> ()
    return
  }
}
