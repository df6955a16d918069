// META: title=test WebNN API quantizeLinear operation, cases by Tiebreak
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils.js
// META: timeout=long

'use strict';

// Written by `tiebreak vectors export --format wpt`. Each expected result is that of the exact quotient or product,
// rounded once, ties to even, so that no other result is right.
const getQuantizeLinearPrecisionTolerance = () => ({metricType: 'ULP', value: 0});

const quantizeLinearTests = [
  {
    'name': 'quantizeLinear ngraph.Quantize/float16/int4/scalar-1/ROUND_NEAREST_TOWARD_EVEN',
    'graph': {
      'inputs': {
        'quantizeLinearInput': {
          'data': [
            -2.5
          ],
          'descriptor': {shape: [], dataType: 'float16'},
          'constant': false
        },
        'quantizeLinearScale': {
          'data': [
            1.0
          ],
          'descriptor': {shape: [], dataType: 'float16'},
          'constant': true
        },
        'quantizeLinearZeroPoint': {
          'data': [
            1
          ],
          'descriptor': {shape: [], dataType: 'int4'},
          'constant': true
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'quantizeLinearInput'}, {'scale': 'quantizeLinearScale'},
          {'zeroPoint': 'quantizeLinearZeroPoint'}
        ],
        'outputs': 'quantizeLinearOutput'
      }],
      'expectedOutputs': {
        'quantizeLinearOutput': {
          'data': [
            -1
          ],
          'descriptor': {shape: [], dataType: 'int4'}
        }
      }
    }
  },
  {
    'name': 'quantizeLinear ngraph.Quantize/float16/int4/reciprocal-49/ROUND_NEAREST_TOWARD_EVEN',
    'graph': {
      'inputs': {
        'quantizeLinearInput': {
          'data': [
            24.515625, 73.5, 122.5625, 171.5, 220.625, -24.515625, -73.5, -122.5625, -171.5, -220.625, -367.5
          ],
          'descriptor': {shape: [11], dataType: 'float16'},
          'constant': false
        },
        'quantizeLinearScale': {
          'data': [
            49.0
          ],
          'descriptor': {shape: [1], dataType: 'float16'},
          'constant': true
        },
        'quantizeLinearZeroPoint': {
          'data': [
            0
          ],
          'descriptor': {shape: [1], dataType: 'int4'},
          'constant': true
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'quantizeLinearInput'}, {'scale': 'quantizeLinearScale'},
          {'zeroPoint': 'quantizeLinearZeroPoint'}
        ],
        'outputs': 'quantizeLinearOutput'
      }],
      'expectedOutputs': {
        'quantizeLinearOutput': {
          'data': [
            1, 2, 3, 4, 5, -1, -2, -3, -4, -5, -8
          ],
          'descriptor': {shape: [11], dataType: 'int4'}
        }
      }
    }
  },
  {
    'name': 'quantizeLinear ngraph.Quantize/float32/uint4/subnormal-scale-1/ROUND_NEAREST_TOWARD_EVEN',
    'graph': {
      'inputs': {
        'quantizeLinearInput': {
          'data': [
            1.401298464324817e-45, -1.401298464324817e-45, 2.802596928649634e-45, -2.802596928649634e-45,
            4.203895392974451e-45, -4.203895392974451e-45, 5.605193857299268e-45, -5.605193857299268e-45,
            7.006492321624085e-45, -7.006492321624085e-45, 8.407790785948902e-45, -8.407790785948902e-45,
            9.80908925027372e-45, -9.80908925027372e-45, -1.1210387714598537e-44
          ],
          'descriptor': {shape: [15], dataType: 'float32'},
          'constant': false
        },
        'quantizeLinearScale': {
          'data': [
            1.401298464324817e-45
          ],
          'descriptor': {shape: [1], dataType: 'float32'},
          'constant': true
        },
        'quantizeLinearZeroPoint': {
          'data': [
            8
          ],
          'descriptor': {shape: [1], dataType: 'uint4'},
          'constant': true
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'quantizeLinearInput'}, {'scale': 'quantizeLinearScale'},
          {'zeroPoint': 'quantizeLinearZeroPoint'}
        ],
        'outputs': 'quantizeLinearOutput'
      }],
      'expectedOutputs': {
        'quantizeLinearOutput': {
          'data': [
            9, 7, 10, 6, 11, 5, 12, 4, 13, 3, 14, 2, 15, 1, 0
          ],
          'descriptor': {shape: [15], dataType: 'uint4'}
        }
      }
    }
  },
  {
    'name': 'quantizeLinear ngraph.Quantize/float16/int4/axes-2x2x2x2-1/ROUND_NEAREST_TOWARD_EVEN',
    'graph': {
      'inputs': {
        'quantizeLinearInput': {
          'data': [
            -6.0, -2.5, 1.0, 4.5, -4.5, -1.0, 2.5, 6.0, -3.0, 0.5, 4.0, -5.0, -1.5, 2.0, 5.5, -3.5
          ],
          'descriptor': {shape: [2, 2, 2, 2], dataType: 'float16'},
          'constant': false
        },
        'quantizeLinearScale': {
          'data': [
            1.0, 1.5
          ],
          'descriptor': {shape: [1, 2, 1, 1], dataType: 'float16'},
          'constant': true
        },
        'quantizeLinearZeroPoint': {
          'data': [
            -1, 1
          ],
          'descriptor': {shape: [1, 2, 1, 1], dataType: 'int4'},
          'constant': true
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'quantizeLinearInput'}, {'scale': 'quantizeLinearScale'},
          {'zeroPoint': 'quantizeLinearZeroPoint'}
        ],
        'outputs': 'quantizeLinearOutput'
      }],
      'expectedOutputs': {
        'quantizeLinearOutput': {
          'data': [
            -7, -3, 0, 3, -2, 0, 3, 5, -4, -1, 3, -6, 0, 2, 5, -1
          ],
          'descriptor': {shape: [2, 2, 2, 2], dataType: 'int4'}
        }
      }
    }
  },
  {
    'name': 'quantizeLinear ngraph.Quantize/float16/int4/axes-3x3x3-2/ROUND_NEAREST_TOWARD_EVEN',
    'graph': {
      'inputs': {
        'quantizeLinearInput': {
          'data': [
            -6.0, -2.5, 1.0, 4.5, -4.5, -1.0, 2.5, 6.0, -3.0, 0.5, 4.0, -5.0, -1.5, 2.0, 5.5, -3.5, 0.0, 3.5,
            -5.5, -2.0, 1.5, 5.0, -4.0, -0.5, 3.0, -6.0, -2.5
          ],
          'descriptor': {shape: [3, 3, 3], dataType: 'float16'},
          'constant': false
        },
        'quantizeLinearScale': {
          'data': [
            1.0, 1.5, 2.0
          ],
          'descriptor': {shape: [1, 1, 3], dataType: 'float16'},
          'constant': true
        },
        'quantizeLinearZeroPoint': {
          'data': [
            -1, 1, 0
          ],
          'descriptor': {shape: [1, 1, 3], dataType: 'int4'},
          'constant': true
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'quantizeLinearInput'}, {'scale': 'quantizeLinearScale'},
          {'zeroPoint': 'quantizeLinearZeroPoint'}
        ],
        'outputs': 'quantizeLinearOutput'
      }],
      'expectedOutputs': {
        'quantizeLinearOutput': {
          'data': [
            -7, -1, 0, 3, -2, 0, 1, 5, -2, -1, 4, -2, -3, 2, 3, -5, 1, 2, -7, 0, 1, 4, -2, 0, 2, -3, -1
          ],
          'descriptor': {shape: [3, 3, 3], dataType: 'int4'}
        }
      }
    }
  },
  {
    'name': 'quantizeLinear ngraph.Quantize/float16/int8/ties-zp1/ROUND_NEAREST_TOWARD_EVEN',
    'graph': {
      'inputs': {
        'quantizeLinearInput': {
          'data': [
            -128.5, -127.5, -126.5, -125.5, -124.5, -123.5, -122.5, -121.5, -120.5, -119.5, -118.5, -117.5,
            -116.5, -115.5, -114.5, -113.5, -112.5, -111.5, -110.5, -109.5, -108.5, -107.5, -106.5, -105.5,
            -104.5, -103.5, -102.5, -101.5, -100.5, -99.5, -98.5, -97.5, -96.5, -95.5, -94.5, -93.5, -92.5,
            -91.5, -90.5, -89.5, -88.5, -87.5, -86.5, -85.5, -84.5, -83.5, -82.5, -81.5, -80.5, -79.5, -78.5,
            -77.5, -76.5, -75.5, -74.5, -73.5, -72.5, -71.5, -70.5, -69.5, -68.5, -67.5, -66.5, -65.5, -64.5,
            -63.5, -62.5, -61.5, -60.5, -59.5, -58.5, -57.5, -56.5, -55.5, -54.5, -53.5, -52.5, -51.5, -50.5,
            -49.5, -48.5, -47.5, -46.5, -45.5, -44.5, -43.5, -42.5, -41.5, -40.5, -39.5, -38.5, -37.5, -36.5,
            -35.5, -34.5, -33.5, -32.5, -31.5, -30.5, -29.5, -28.5, -27.5, -26.5, -25.5, -24.5, -23.5, -22.5,
            -21.5, -20.5, -19.5, -18.5, -17.5, -16.5, -15.5, -14.5, -13.5, -12.5, -11.5, -10.5, -9.5, -8.5,
            -7.5, -6.5, -5.5, -4.5, -3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5,
            10.5, 11.5, 12.5, 13.5, 14.5, 15.5, 16.5, 17.5, 18.5, 19.5, 20.5, 21.5, 22.5, 23.5, 24.5, 25.5,
            26.5, 27.5, 28.5, 29.5, 30.5, 31.5, 32.5, 33.5, 34.5, 35.5, 36.5, 37.5, 38.5, 39.5, 40.5, 41.5,
            42.5, 43.5, 44.5, 45.5, 46.5, 47.5, 48.5, 49.5, 50.5, 51.5, 52.5, 53.5, 54.5, 55.5, 56.5, 57.5,
            58.5, 59.5, 60.5, 61.5, 62.5, 63.5, 64.5, 65.5, 66.5, 67.5, 68.5, 69.5, 70.5, 71.5, 72.5, 73.5,
            74.5, 75.5, 76.5, 77.5, 78.5, 79.5, 80.5, 81.5, 82.5, 83.5, 84.5, 85.5, 86.5, 87.5, 88.5, 89.5,
            90.5, 91.5, 92.5, 93.5, 94.5, 95.5, 96.5, 97.5, 98.5, 99.5, 100.5, 101.5, 102.5, 103.5, 104.5,
            105.5, 106.5, 107.5, 108.5, 109.5, 110.5, 111.5, 112.5, 113.5, 114.5, 115.5, 116.5, 117.5, 118.5,
            119.5, 120.5, 121.5, 122.5, 123.5, 124.5, 125.5
          ],
          'descriptor': {shape: [255], dataType: 'float16'},
          'constant': false
        },
        'quantizeLinearScale': {
          'data': [
            1.0
          ],
          'descriptor': {shape: [1], dataType: 'float16'},
          'constant': true
        },
        'quantizeLinearZeroPoint': {
          'data': [
            1
          ],
          'descriptor': {shape: [1], dataType: 'int8'},
          'constant': true
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'quantizeLinearInput'}, {'scale': 'quantizeLinearScale'},
          {'zeroPoint': 'quantizeLinearZeroPoint'}
        ],
        'outputs': 'quantizeLinearOutput'
      }],
      'expectedOutputs': {
        'quantizeLinearOutput': {
          'data': [
            -127, -127, -125, -125, -123, -123, -121, -121, -119, -119, -117, -117, -115, -115, -113, -113,
            -111, -111, -109, -109, -107, -107, -105, -105, -103, -103, -101, -101, -99, -99, -97, -97, -95,
            -95, -93, -93, -91, -91, -89, -89, -87, -87, -85, -85, -83, -83, -81, -81, -79, -79, -77, -77, -75,
            -75, -73, -73, -71, -71, -69, -69, -67, -67, -65, -65, -63, -63, -61, -61, -59, -59, -57, -57, -55,
            -55, -53, -53, -51, -51, -49, -49, -47, -47, -45, -45, -43, -43, -41, -41, -39, -39, -37, -37, -35,
            -35, -33, -33, -31, -31, -29, -29, -27, -27, -25, -25, -23, -23, -21, -21, -19, -19, -17, -17, -15,
            -15, -13, -13, -11, -11, -9, -9, -7, -7, -5, -5, -3, -3, -1, -1, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11,
            11, 13, 13, 15, 15, 17, 17, 19, 19, 21, 21, 23, 23, 25, 25, 27, 27, 29, 29, 31, 31, 33, 33, 35, 35,
            37, 37, 39, 39, 41, 41, 43, 43, 45, 45, 47, 47, 49, 49, 51, 51, 53, 53, 55, 55, 57, 57, 59, 59, 61,
            61, 63, 63, 65, 65, 67, 67, 69, 69, 71, 71, 73, 73, 75, 75, 77, 77, 79, 79, 81, 81, 83, 83, 85, 85,
            87, 87, 89, 89, 91, 91, 93, 93, 95, 95, 97, 97, 99, 99, 101, 101, 103, 103, 105, 105, 107, 107, 109,
            109, 111, 111, 113, 113, 115, 115, 117, 117, 119, 119, 121, 121, 123, 123, 125, 125, 127
          ],
          'descriptor': {shape: [255], dataType: 'int8'}
        }
      }
    }
  },
];

if (navigator.ml) {
  quantizeLinearTests.filter(isTargetTest).forEach((test) => {
    webnn_conformance_test(
        buildAndExecuteGraph, getQuantizeLinearPrecisionTolerance, test,
        /*cast_to_supported_type=*/true);
  });
} else {
  test(() => assert_implements(navigator.ml, 'missing navigator.ml'));
}
