// join_rows of credo._core: rows as text.
#include <nanobind/stl/vector.h>

#include "binding_arrays.hpp"
#include "join_rows.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

using Codes = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ends = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::uint8_t width_of(const Codes& codes) {
  if (codes.dtype() == nb::dtype<std::uint8_t>()) return 1;
  if (codes.dtype() == nb::dtype<std::uint16_t>()) return 2;
  if (codes.dtype() == nb::dtype<std::uint32_t>()) return 4;
  throw std::invalid_argument("Codes must be a 1-D array of uint8, uint16 or uint32.");
}

nb::object join(const std::vector<Codes>& codes, const std::vector<Bytes>& texts,
                const std::vector<Ends>& ends) {
  require(codes.size() == texts.size() && codes.size() == ends.size(),
          "The 'codes', 'texts' and 'ends' parameters must have the same length.");
  const std::size_t rows = codes.empty() ? 0 : codes[0].shape(0);
  std::vector<TextColumn> columns;
  for (std::size_t c = 0; c < codes.size(); ++c) {
    require(codes[c].shape(0) == rows, "All columns must have the same number of rows.");
    const std::size_t n = ends[c].shape(0);
    require(n >= 1 && ends[c].data()[0] >= 0, "The ends of texts must begin at 0 or later.");
    for (std::size_t i = 1; i < n; ++i)
      require(ends[c].data()[i] >= ends[c].data()[i - 1], "The ends of texts must not fall.");
    require(static_cast<std::size_t>(ends[c].data()[n - 1]) + kTextSlack <= texts[c].shape(0),
            "The texts must be followed by " + std::to_string(kTextSlack) + " more bytes.");
    columns.push_back({codes[c].data(), width_of(codes[c]), texts[c].data(), ends[c].data(),
                       n - 1});
  }
  std::size_t bytes = 0;
  {
    const nb::gil_scoped_release release;
    bytes = joined_size(columns, 0, rows);
  }
  std::vector<std::uint8_t> text(bytes + kTextSlack);
  {
    const nb::gil_scoped_release release;
    join_rows(columns, 0, rows, text.data());
  }
  return nb::bytes(text.data(), bytes);
}

}  // namespace

void bind_rows_out(nb::module_& m) {
  m.def("join_rows", &join, "codes"_a.noconvert(), "texts"_a.noconvert(), "ends"_a.noconvert());
}

}  // namespace credo::binding
