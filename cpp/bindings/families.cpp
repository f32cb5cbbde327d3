// Plans of families, as Python asks for them.
#include "bindings/families.hpp"

#include "bindings/module.hpp"

namespace credo::bindings {
namespace {

template <SetList FamilyTables::* sets>
const SetList& table_sets(const FamilyPlan& plan) {
  return plan.tables().*sets;
}

// A plan, or None where the families are not as they are usually written; the last plan itself where
// it is of the same families. Each is compared: a list that has changed is another.
nb::object plan_families(nb::handle families, nb::dict positions, nb::list states,
                                std::uint64_t most, nb::object last) {
  require(nb::len(positions) == nb::len(states),
          "The 'positions' and 'states' parameters must have the same length.");
  FamilyReader reader(positions);
  if (!reader.read(families)) return nb::none();
  SetList read = reader.take();
  if (!last.is_none() && nb::cast<const FamilyPlan&>(last).is_of(read, nb::len(states), most))
    return last;
  return nb::cast(FamilyPlan(std::move(read), nb::cast<std::vector<std::int64_t>>(states), most));
}

}  // namespace

void bind_families(nb::module_& m) {
  nb::class_<FamilyPlan>(m, "FamilyPlan")
      .def("__len__", &FamilyPlan::size)
      .def_prop_ro("n_dense", [](const FamilyPlan& self) { return self.tables().dense.size(); })
      .def_prop_ro("all_dense", &FamilyPlan::all_dense)
      .def_prop_ro("cells", [](const FamilyPlan& self) { return self.tables().cells; })
      .def_prop_ro("dense", &table_sets<&FamilyTables::dense>, nb::rv_policy::reference_internal)
      .def_prop_ro("sparse", &table_sets<&FamilyTables::sparse>, nb::rv_policy::reference_internal)
      .def_prop_ro("mixed", &table_sets<&FamilyTables::mixed>, nb::rv_policy::reference_internal)
      .def("spelled", &FamilyPlan::spelled, "names"_a,
           nb::sig("def spelled(self, names: tuple[str, ...]) -> dict[tuple[str, ...], int]"))
      .def("axes", &FamilyPlan::axes, "variables"_a,
           nb::sig("def axes(self, variables: tuple[typing.Any, ...]) -> list[typing.Any]"))
      .def("other", &FamilyPlan::other, "family"_a)
      .def("view", &FamilyPlan::view, "tables"_a, "family"_a,
           nb::sig("def view(self, tables: object, family: int) -> numpy.typing.NDArray[typing.Any]"))
      .def("views", &FamilyPlan::views, "tables"_a,
           nb::sig("def views(self, tables: object) -> list[numpy.typing.NDArray[typing.Any]]"))
      .def("counts", &FamilyPlan::counts, "kind"_a, "variables"_a, "tables"_a,
           nb::sig("def counts(self, kind: type, variables: tuple[typing.Any, ...], tables: object) "
                   "-> list[typing.Any]"));
  m.def("plan_families", &plan_families, "families"_a, "positions"_a, "states"_a, "most"_a,
        "last"_a = nb::none(),
        nb::sig("def plan_families(families: object, positions: dict[str, int], states: list[int], "
                "most: int, last: FamilyPlan | None = None) -> FamilyPlan | None"));
}

}  // namespace credo::bindings
