#include "infer/expect.hpp"

#include <algorithm>
#include <limits>

#include "common/parallel.hpp"

namespace credo::infer {

double expect(Runner& runner, const Inputs& inputs, const double* weights,
              const RunOptions& options, Monitor& monitor, double* families,
              std::int64_t& impossible) {
  const Plan& plan = runner.plan();
  const std::size_t cells = plan.family_offsets.back(), rows = inputs.rows,
                    columns = plan.request.observed.size() + plan.request.maybe.size();
  // At most 64 parts, each run in blocks whose families stay below 8 MB.
  const std::size_t n_parts = std::clamp<std::size_t>(rows / 256, 1, 64);
  const std::size_t block = std::clamp<std::size_t>((std::size_t{1} << 20) / cells, 1, 256);
  struct Partial {
    std::vector<double> families;
    double log_evidence = 0;
    std::int64_t impossible = -1;
  };
  std::vector<Partial> partial(n_parts);
  const bool alone = rows <= block || n_parts == 1;  // then the threads share the run
  parallel_for(n_parts, alone ? 1 : options.threads, [&](std::size_t part) {
    Partial& own = partial[part];
    own.families.resize(cells);
    std::vector<double> each(block), marginals(block * plan.marginal_states), family;
    const std::size_t last = rows * (part + 1) / n_parts;
    for (std::size_t first = rows * part / n_parts; first < last; first += block) {
      Inputs some = inputs;
      some.rows = std::min(block, last - first);
      some.evidence = inputs.evidence + first * columns;
      RunOptions single = options;
      single.threads = alone ? options.threads : 1;
      family.assign(some.rows * cells, 0.0);
      runner.run(some, single, monitor, {each.data(), marginals.data(), family.data()});
      for (std::size_t r = 0; r < some.rows; ++r) {
        if (each[r] == -std::numeric_limits<double>::infinity() && own.impossible < 0)
          own.impossible = static_cast<std::int64_t>(first + r);
        const double weight = weights[first + r];
        own.log_evidence += weight * each[r];
        const double* from = family.data() + r * cells;
        for (std::size_t c = 0; c < cells; ++c) own.families[c] += weight * from[c];
      }
    }
  });
  double total = 0;
  impossible = -1;
  std::fill_n(families, cells, 0.0);
  for (const Partial& part : partial) {
    total += part.log_evidence;
    if (impossible < 0) impossible = part.impossible;
    for (std::size_t c = 0; c < cells; ++c) families[c] += part.families[c];
  }
  return total;
}

}  // namespace credo::infer
