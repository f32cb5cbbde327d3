#include "binding_arrays.hpp"
#include "binding_casters.hpp"
#include "binding_doors.hpp"
#include "text_door.hpp"

namespace credo::binding {

using namespace nb::literals;
using namespace doors;

void bind_texts(nb::module_& m) {
  m.def("encode_texts", door(&doors::encode_texts), "offsets"_a, "bytes"_a);
  m.def("join_rows", door(&doors::join_rows), "codes"_a, "texts"_a, "ends"_a);
  nb::class_<CsvReader>(m, "CsvRecords")
      .def(nb::init<const std::string&, std::size_t, std::vector<std::size_t>>(), "delimiter"_a,
           "width"_a, "wanted"_a)
      .def("read", door(&CsvReader::read), "bytes"_a, "last"_a);
}

}  // namespace credo::binding
