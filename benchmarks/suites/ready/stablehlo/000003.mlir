// stablehlo.uniform_quantize/float32/int8/scale-subnormal
module {
  func.func @main() {
    %input = "stablehlo.constant"() <{value = dense<[0x00000000, 0x00000003, 0x80000003, 0x00000006, 0x00000009, 0x80000009, 0x0000000F, 0x80000015, 0x0000003C]> : tensor<9xf32>}> : () -> tensor<9xf32>
    %found = "stablehlo.uniform_quantize"(%input) : (tensor<9xf32>) -> tensor<9x!quant.uniform<i8:f32, 4.20389539297445121e-45:3>>
    %number = "stablehlo.uniform_dequantize"(%found) : (tensor<9x!quant.uniform<i8:f32, 4.20389539297445121e-45:3>>) -> tensor<9xf32>
    "check.expect_eq_const"(%number) <{value = dense<[0x00000000, 0x00000003, 0x80000003, 0x00000006, 0x00000009, 0x80000009, 0x0000000F, 0x80000015, 0x0000003C]> : tensor<9xf32>}> : (tensor<9xf32>) -> ()
    return
  }
}
