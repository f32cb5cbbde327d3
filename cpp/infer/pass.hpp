// The passes over one block of rows, or over what all rows share.
#pragma once

#include "common/memory.hpp"
#include "infer/run.hpp"

namespace credo::infer {

// What is known of each factor's table (or likelihood) before any row is looked at.
struct InputRange {
  double scale = 1;  // applied when the table is read, a power of two
  double low;        // smallest positive value after scaling, or infinity
};

// Values that accumulate over a pass: per lane.
struct Lanes {
  explicit Lanes(std::size_t lanes = 1) : mantissa(lanes, 1.0), exponent(lanes), risky(lanes) {}
  std::vector<double> mantissa;        // P(evidence) = mantissa · 2^exponent
  std::vector<std::int64_t> exponent;
  std::vector<char> risky;             // could a value have been lost to underflow?
};

struct Memory {
  BigArray<double> values;            // tensors
  std::vector<double> low, adjoint_low;  // per tensor and lane: smallest positive value
  BigArray<double> scratch;
  std::vector<std::int32_t> codes;    // [column][lane]
  std::vector<double> high;           // per lane
  Memory(const Plan& plan, const Program& program, bool batched);
};

class Pass {
 public:
  Pass(const Plan& plan, const Program& program, const Kernels& kernels, const Inputs& inputs,
       const std::vector<InputRange>& ranges, Monitor& monitor, bool batched, int threads,
       Memory* shared, Memory* own)
      : plan_(plan), program_(program), kernels_(kernels), inputs_(inputs), ranges_(ranges),
        monitor_(monitor), batched_(batched), threads_(threads), shared_(shared), own_(own),
        lanes_(batched ? program.lanes : 1) {}

  // Rows first .. first + count, repeated to fill the lanes.
  void load(std::size_t first, std::size_t count);
  void forward(Lanes& lanes);
  void backward(Lanes& lanes, const Outputs& out);
  // For each lane, the states of all variables: [lane][variable].
  void backtrack(const Lanes& lanes, std::int32_t* assignment);
  std::size_t first() const { return first_; }
  std::size_t count() const { return count_; }

 private:
  struct Low {  // smallest positive values: of each lane, or one for all (stride 0)
    const double* at;
    std::size_t stride;
  };

  double* place(const Place& of) const {
    return (of.batched ? own_ : shared_)->values.data() + of.at;
  }
  const double* value(std::int32_t t) const;
  const double* adjoint(std::int32_t t) const;
  Low value_low(std::int32_t t) const;
  Low adjoint_low(std::int32_t t) const;
  std::size_t row(std::size_t lane) const;
  void load_factor(std::size_t t);
  // A factor with no variable left open, in a block: multiplied into P(evidence) without a tensor.
  bool is_number(std::size_t t) const;
  void multiply_numbers(Lanes& lanes) const;
  void contract(const Nest& nest, const double* a, const double* b, double* out, double* low);
  void rescale(double* values, std::size_t cells, double* low, std::int64_t* exponent);
  void note_risk(Lanes& lanes, Low a, Low b) const;
  void step_back(const Step& step, std::int32_t into, std::int32_t other, const Nest& nest,
                 Lanes& lanes);
  void answer(std::int32_t target, Lanes& lanes, const Outputs& out);
  void answer_family(std::int32_t input, Lanes& lanes, const Outputs& out);
  void normalise(double* values, std::size_t cells, Lanes& lanes) const;
  // Calls f(row, lane) for each row that this pass answers.
  template <class F>
  void for_rows(F&& f) const {
    if (batched_)
      for (std::size_t l = 0; l < count_; ++l) f(first_ + l, l);
    else
      for (std::size_t r = 0; r < inputs_.rows; ++r) f(r, 0);
  }

  const Plan& plan_;
  const Program& program_;
  const Kernels& kernels_;
  const Inputs& inputs_;
  const std::vector<InputRange>& ranges_;
  Monitor& monitor_;
  bool batched_;
  int threads_;
  Memory *shared_, *own_;
  std::size_t lanes_, first_ = 0, count_ = 1;
};

}  // namespace credo::infer
