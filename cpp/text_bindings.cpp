// Python's view of columns of texts: their codes, and the records of CSV files.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "binding_arrays.hpp"
#include "csv_records.hpp"
#include "text_codes.hpp"

namespace credo::binding {
namespace {

using namespace nb::literals;

using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

const std::uint8_t* bytes_of(const AnyArray& bytes) {
  require(bytes.ndim() == 1 && bytes.dtype() == nb::dtype<std::uint8_t>(),
          "The 'bytes' parameter must be a 1-D array of uint8.");
  return static_cast<const std::uint8_t*>(bytes.data());
}

nb::tuple encode(const AnyArray& offsets, const AnyArray& bytes) {
  const std::uint8_t* text = bytes_of(bytes);
  const bool wide = offsets.dtype() == nb::dtype<std::int64_t>();
  require(offsets.ndim() == 1 && offsets.size() >= 1 && offsets.size() <= 0x7fffffff &&
              (wide || offsets.dtype() == nb::dtype<std::int32_t>()),
          "The 'offsets' parameter must be a 1-D array of int32 or int64, one more than the texts.");
  const std::size_t n = offsets.size() - 1;
  NewArray<std::int32_t> codes({n});
  std::vector<std::int32_t> first;
  {
    const nb::gil_scoped_release release;
    const auto run = [&]<class Offset>(const Offset* at) {
      first = encode_texts(at, n, text, bytes.size(), codes.data());
    };
    if (wide) run(static_cast<const std::int64_t*>(offsets.data()));
    else run(static_cast<const std::int32_t*>(offsets.data()));
  }
  NewArray<std::int32_t> met({first.size()});
  std::copy(first.begin(), first.end(), met.data());
  return nb::make_tuple(codes.release(), met.release());
}

// Texts one after the other, as Arrow keeps them: offsets and bytes.
struct Packed {
  NewArray<std::int32_t> offsets;
  NewArray<std::uint8_t> bytes;

  explicit Packed(const std::vector<Text>& texts) : offsets({texts.size() + 1}), bytes({size(texts)}) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::copy_n(texts[i].at, texts[i].length, bytes.data() + at);
      at += texts[i].length;
      offsets.data()[i + 1] = static_cast<std::int32_t>(at);
    }
  }

  static std::size_t size(const std::vector<Text>& texts) {
    std::size_t total = 0;
    for (const Text& text : texts) total += text.length;
    return total;
  }
};

nb::tuple read_records(CsvRecords& records, const AnyArray& bytes, bool last) {
  const std::uint8_t* text = bytes_of(bytes);
  require(bytes.size() <= 0x7fffffff, "The 'bytes' parameter must be of at most 2^31 - 1 bytes.");
  CsvRecords::Block block;
  std::vector<NewArray<std::int32_t>> codes;
  std::vector<Packed> texts;
  {
    const nb::gil_scoped_release release;
    block = records.read(text, bytes.size(), last);
    for (const CsvColumn& column : records.columns()) {
      codes.emplace_back(std::vector<std::size_t>{column.codes.size()});
      std::copy(column.codes.begin(), column.codes.end(), codes.back().data());
      texts.emplace_back(column.coded ? column.texts.met() : column.cells);
    }
  }
  nb::list columns;
  for (std::size_t i = 0; i < codes.size(); ++i)
    columns.append(nb::make_tuple(
        records.columns()[i].coded ? codes[i].release() : nb::none(), texts[i].offsets.release(),
        texts[i].bytes.release()));
  return nb::make_tuple(block.used, block.records, block.regular, columns);
}

}  // namespace

void bind_texts(nb::module_& m) {
  m.def("encode_texts", &encode, "offsets"_a.noconvert(), "bytes"_a.noconvert());
  nb::class_<CsvRecords>(m, "CsvRecords")
      .def("__init__",
           [](CsvRecords* self, const std::string& delimiter, std::size_t width,
              std::vector<std::size_t> wanted) {
             require(delimiter.size() == 1, "The 'delimiter' parameter must be one byte.");
             new (self) CsvRecords(delimiter[0], width, std::move(wanted));
           },
           "delimiter"_a, "width"_a, "wanted"_a)
      .def("read", &read_records, "bytes"_a.noconvert(), "last"_a);
}

}  // namespace credo::binding
