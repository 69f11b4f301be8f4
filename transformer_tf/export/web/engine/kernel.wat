;; Matrix products over rows of weights: y[c][r] = scale[r] · Σ weight[r][i] · x[c][i].
;;
;; A row has `stride` weights, a multiple of 16, of which `x` has as many. Addresses are in bytes.
(module
  (import "kernel" "memory" (memory 1))

  ;; Sum of the four numbers of a vector.
  (func $sum (param $v v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $v)) (f32x4.extract_lane 1 (local.get $v)))
      (f32.add (f32x4.extract_lane 2 (local.get $v)) (f32x4.extract_lane 3 (local.get $v)))))

  ;; 8-bit weights with a scale for each row.
  (func (export "int8")
    (param $weight i32) (param $scale i32) (param $x i32) (param $y i32)
    (param $rows i32) (param $stride i32) (param $count i32)
    (local $row i32) (local $column i32) (local $w i32) (local $end i32) (local $v i32)
    (local $bytes v128) (local $low v128) (local $high v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (loop $rows_left
      (local.set $column (i32.const 0))
      (local.set $v (local.get $x))
      (local.set $end (i32.add (local.get $weight) (local.get $stride)))
      (loop $columns_left
        (local.set $w (local.get $weight))
        (local.set $a (v128.const f32x4 0 0 0 0))
        (local.set $b (v128.const f32x4 0 0 0 0))
        (local.set $c (v128.const f32x4 0 0 0 0))
        (local.set $d (v128.const f32x4 0 0 0 0))
        (loop $weights_left
          (local.set $bytes (v128.load (local.get $w)))
          (local.set $low (i16x8.extend_low_i8x16_s (local.get $bytes)))
          (local.set $high (i16x8.extend_high_i8x16_s (local.get $bytes)))
          (local.set $a (f32x4.add (local.get $a) (f32x4.mul
            (v128.load (local.get $v))
            (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $low))))))
          (local.set $b (f32x4.add (local.get $b) (f32x4.mul
            (v128.load offset=16 (local.get $v))
            (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $low))))))
          (local.set $c (f32x4.add (local.get $c) (f32x4.mul
            (v128.load offset=32 (local.get $v))
            (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $high))))))
          (local.set $d (f32x4.add (local.get $d) (f32x4.mul
            (v128.load offset=48 (local.get $v))
            (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $high))))))
          (local.set $v (i32.add (local.get $v) (i32.const 64)))
          (local.set $w (i32.add (local.get $w) (i32.const 16)))
          (br_if $weights_left (i32.lt_u (local.get $w) (local.get $end))))
        (f32.store
          (i32.add (local.get $y) (i32.mul (i32.const 4) (i32.add
            (local.get $row) (i32.mul (local.get $column) (local.get $rows)))))
          (f32.mul
            (f32.load (i32.add (local.get $scale) (i32.mul (i32.const 4) (local.get $row))))
            (call $sum (f32x4.add
              (f32x4.add (local.get $a) (local.get $b))
              (f32x4.add (local.get $c) (local.get $d))))))
        (local.set $column (i32.add (local.get $column) (i32.const 1)))
        (br_if $columns_left (i32.lt_u (local.get $column) (local.get $count))))
      (local.set $weight (local.get $end))
      (local.set $row (i32.add (local.get $row) (i32.const 1)))
      (br_if $rows_left (i32.lt_u (local.get $row) (local.get $rows)))))

  ;; 32-bit weights; there is no scale.
  (func (export "float32")
    (param $weight i32) (param $x i32) (param $y i32)
    (param $rows i32) (param $stride i32) (param $count i32)
    (local $row i32) (local $column i32) (local $w i32) (local $end i32) (local $v i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (loop $rows_left
      (local.set $column (i32.const 0))
      (local.set $v (local.get $x))
      (local.set $end
        (i32.add (local.get $weight) (i32.mul (i32.const 4) (local.get $stride))))
      (loop $columns_left
        (local.set $w (local.get $weight))
        (local.set $a (v128.const f32x4 0 0 0 0))
        (local.set $b (v128.const f32x4 0 0 0 0))
        (local.set $c (v128.const f32x4 0 0 0 0))
        (local.set $d (v128.const f32x4 0 0 0 0))
        (loop $weights_left
          (local.set $a (f32x4.add (local.get $a) (f32x4.mul
            (v128.load (local.get $v)) (v128.load (local.get $w)))))
          (local.set $b (f32x4.add (local.get $b) (f32x4.mul
            (v128.load offset=16 (local.get $v)) (v128.load offset=16 (local.get $w)))))
          (local.set $c (f32x4.add (local.get $c) (f32x4.mul
            (v128.load offset=32 (local.get $v)) (v128.load offset=32 (local.get $w)))))
          (local.set $d (f32x4.add (local.get $d) (f32x4.mul
            (v128.load offset=48 (local.get $v)) (v128.load offset=48 (local.get $w)))))
          (local.set $v (i32.add (local.get $v) (i32.const 64)))
          (local.set $w (i32.add (local.get $w) (i32.const 64)))
          (br_if $weights_left (i32.lt_u (local.get $w) (local.get $end))))
        (f32.store
          (i32.add (local.get $y) (i32.mul (i32.const 4) (i32.add
            (local.get $row) (i32.mul (local.get $column) (local.get $rows)))))
          (call $sum (f32x4.add
            (f32x4.add (local.get $a) (local.get $b))
            (f32x4.add (local.get $c) (local.get $d)))))
        (local.set $column (i32.add (local.get $column) (i32.const 1)))
        (br_if $columns_left (i32.lt_u (local.get $column) (local.get $count))))
      (local.set $weight (local.get $end))
      (local.set $row (i32.add (local.get $row) (i32.const 1)))
      (br_if $rows_left (i32.lt_u (local.get $row) (local.get $rows)))))
)
