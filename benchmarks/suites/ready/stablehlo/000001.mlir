// stablehlo.uniform_quantize/float32/int8/scale-large
module {
  func.func @main() {
    %input = "stablehlo.constant"() <{value = dense<[0x00000000, 0x7E000000, 0xFE000000, 0x7E800000, 0xFE800000, 0x7EC00000, 0xFEC00000]> : tensor<7xf32>}> : () -> tensor<7xf32>
    %found = "stablehlo.uniform_quantize"(%input) : (tensor<7xf32>) -> tensor<7x!quant.uniform<i8:f32, 8.50705917302346159e+37:3>>
    %number = "stablehlo.uniform_dequantize"(%found) : (tensor<7x!quant.uniform<i8:f32, 8.50705917302346159e+37:3>>) -> tensor<7xf32>
    "check.expect_eq_const"(%number) <{value = dense<[0x00000000, 0x7E800000, 0xFE800000, 0x7E800000, 0xFE800000, 0x7E800000, 0xFE800000]> : tensor<7xf32>}> : (tensor<7xf32>) -> ()
    return
  }
}
