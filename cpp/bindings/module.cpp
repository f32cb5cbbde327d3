// The module credo._core: the doors of the kernels, and the names by which Python knows them.
//
// This file alone knows both Python and the kernels, with the headers binding_*.hpp that only it
// includes. Arrays come in contiguous and of the exact type, never converted. A door is passed
// without the GIL, and checks what it is given: a std::invalid_argument becomes a ValueError.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include "bindings/approximate.hpp"
#include "bindings/calls.hpp"
#include "bindings/casters.hpp"
#include "bindings/cluster.hpp"
#include "bindings/columns.hpp"
#include "bindings/em.hpp"
#include "bindings/exact_sums.hpp"
#include "bindings/families.hpp"
#include "bindings/infer.hpp"
#include "bindings/mixture.hpp"
#include "bindings/naive_fit.hpp"
#include "bindings/naive_score.hpp"
#include "bindings/naive_text.hpp"
#include "bindings/sample.hpp"
#include "bindings/score.hpp"
#include "bindings/search.hpp"
#include "bindings/sets.hpp"
#include "bindings/text.hpp"
#include "bindings/words.hpp"
#include "common/cpu.hpp"
#include "infer/program.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace credo;
using namespace credo::doors;
using credo::binding::door;

namespace {

using Arities = std::vector<std::int64_t>;
using Scopes = std::vector<std::vector<std::int32_t>>;

// Read-only bits that live as long as the columns.
nb::object bitmap(nb::handle_t<KeptColumns> self, std::int64_t variable, const std::string& path) {
  const auto& columns = nb::cast<const KeptColumns&>(self);
  const MaskRows masks = binding::unlocked([&] { return columns.bitmap(variable, path); });
  const std::size_t shape[] = {masks.count, masks.stride};
  return nb::cast(nb::ndarray<nb::numpy, const std::uint64_t>(masks.base, 2, shape, self));
}

template <SetList FamilyTables::* sets>
const SetList& table_sets(const binding::FamilyPlan& plan) {
  return plan.tables().*sets;
}

void bind_columns(nb::module_& m) {
  m.def("paths", &available_paths);
  m.def("cores", &hardware_threads);
  m.def("moments", door(&doors::moments), "columns"_a, "group"_a.none(), "n_groups"_a,
        "weights"_a.none(), "threads"_a = 1, "path"_a = "auto");
  m.def("exact_of", door(&doors::exact_of), "values"_a);
  m.def("exact_planes", door(&doors::exact_planes), "planes"_a, "low"_a);
  m.def("exact_gathered", door(&doors::exact_gathered), "digits"_a, "low"_a, "group"_a,
        "n_groups"_a);
  m.def("exact_summed", door(&doors::exact_summed), "values"_a, "group"_a, "n_groups"_a);
  m.def("exact_rounded", door(&doors::exact_rounded), "digits"_a, "low"_a);
  m.def("exact_moments", door(&doors::exact_moments), "columns"_a, "group"_a.none(), "n_groups"_a,
        "weights"_a.none(), "threads"_a = 1, "path"_a = "auto");
  m.def("exact_spread", door(&doors::exact_spread), "n"_a, "n_low"_a, "first"_a, "first_low"_a,
        "second"_a, "second_low"_a);
  m.def("take_codes", door(&doors::take_codes), "indices"_a, "lut"_a, "out"_a,
        "path"_a = "auto");
  nb::class_<KeptColumns>(m, "Columns")
      .def(nb::init<std::vector<AnyArray>, const Arities&,
                    const std::optional<std::vector<bool>>&>(),
           "codes"_a, "arities"_a, "missing"_a = nb::none(),
           nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("missing",
                   [](const KeptColumns& self) {
                     std::vector<bool> missing;
                     for (std::size_t v = 0; v < self->n_variables(); ++v)
                       missing.push_back((*self)[v].missing);
                     return missing;
                   })
      .def_prop_ro("n_rows", [](const KeptColumns& self) { return self->n_rows(); })
      .def_prop_ro("n_variables", [](const KeptColumns& self) { return self->n_variables(); })
      .def_prop_ro("bitmap_bytes", [](const KeptColumns& self) { return self->bitmap_bytes(); })
      .def("bitmap", &bitmap, "variable"_a, "path"_a = "auto")
      .def("count",
           [count = door(&KeptColumns::count)](
               const KeptColumns& self, const GivenSets& sets,
               const std::optional<AnyArray>& weights, const std::string& kernel,
               const std::string& path, int threads) {
             return binding::tables_of(count(self, sets, weights, kernel, path, threads));
           },
           "sets"_a, "weights"_a = nb::none(), "kernel"_a = "auto", "path"_a = "auto",
           "threads"_a = 1)
      .def("count_flat", door(&KeptColumns::count), "sets"_a, "weights"_a = nb::none(),
           "kernel"_a = "auto", "path"_a = "auto", "threads"_a = 1)
      .def("count_tables", door(&KeptColumns::count_tables), "sets"_a, "weights"_a = nb::none(),
           "kernel"_a = "auto", "path"_a = "auto", "threads"_a = 1)
      .def("unique", door(&KeptColumns::unique), "variables"_a, "weights"_a = nb::none(),
           "limit"_a = -1)
      .def("count_sparse", door(&KeptColumns::count_sparse), "variables"_a,
           "weights"_a = nb::none());
}

void bind_families(nb::module_& m) {
  using binding::FamilyPlan;
  nb::class_<SetList>(m, "Sets")
      .def("__init__",
           [](SetList* self, const GivenSets& sets) { new (self) SetList(sets.list()); }, "sets"_a)
      .def("__len__", &SetList::size)
      .def("lists", &binding::lists_of);
  nb::class_<FamilyPlan>(m, "FamilyPlan")
      .def("__len__", &FamilyPlan::size)
      .def_prop_ro("n_dense", [](const FamilyPlan& self) { return self.tables().dense.size(); })
      .def_prop_ro("all_dense", &FamilyPlan::all_dense)
      .def_prop_ro("cells", [](const FamilyPlan& self) { return self.tables().cells; })
      .def_prop_ro("dense", &table_sets<&FamilyTables::dense>, nb::rv_policy::reference_internal)
      .def_prop_ro("sparse", &table_sets<&FamilyTables::sparse>, nb::rv_policy::reference_internal)
      .def_prop_ro("mixed", &table_sets<&FamilyTables::mixed>, nb::rv_policy::reference_internal)
      .def("spelled", &FamilyPlan::spelled, "names"_a)
      .def("axes", &FamilyPlan::axes, "variables"_a)
      .def("other", &FamilyPlan::other, "family"_a)
      .def("view", &FamilyPlan::view, "tables"_a, "family"_a)
      .def("views", &FamilyPlan::views, "tables"_a)
      .def("counts", &FamilyPlan::counts, "kind"_a, "variables"_a, "tables"_a);
  m.def("plan_families", &binding::plan_families, "families"_a, "positions"_a, "states"_a,
        "most"_a, "last"_a = nb::none());
}

void bind_texts(nb::module_& m) {
  m.def("encode_texts", door(&doors::encode_texts), "offsets"_a, "bytes"_a);
  m.def("read_numbers", door(&doors::read_numbers), "offsets"_a, "bytes"_a, "words"_a);
  m.def("join_rows", door(&doors::join_rows), "codes"_a, "texts"_a, "ends"_a);
  nb::class_<CsvReader>(m, "CsvRecords")
      .def(nb::init<const std::string&, std::size_t, std::vector<std::size_t>,
                    std::optional<std::vector<std::string>>, const std::string&>(),
           "delimiter"_a, "width"_a, "wanted"_a, "words"_a = nb::none(), "point"_a = ".")
      .def("read", door(&CsvReader::read), "bytes"_a, "last"_a)
      .def("numbers", door(&CsvReader::numbers))
      .def("want_texts", &CsvReader::want_texts, "columns"_a);
  nb::class_<JsonReader>(m, "JsonRecords")
      .def(nb::init<std::size_t, bool, bool>(), "most_columns"_a, "array"_a, "began"_a = false)
      .def("read", door(&JsonReader::read), "bytes"_a, "most_objects"_a);
}

void bind_inference(nb::module_& m) {
  nb::class_<Plan>(m, "Plan")
      .def("run", door(&Plan::run), "tables"_a, "evidence"_a, "soft"_a = nb::list(),
           "threads"_a = 1, "path"_a = "auto", "lanes"_a = 0)
      .def("expect", door(&Plan::expect), "tables"_a, "evidence"_a, "weights"_a, "threads"_a = 1)
      .def("explain", door(&Plan::explain), "tables"_a, "evidence"_a, "soft"_a = nb::list(),
           "threads"_a = 1, "path"_a = "auto", "lanes"_a = 0)
      .def_prop_ro("total_states", [](const Plan& p) { return p->order.total_states; })
      .def_prop_ro("largest", [](const Plan& p) { return p->largest; })
      .def_prop_ro("largest_clique", [](const Plan& p) { return p->order.largest_clique; })
      .def_prop_ro("bytes", [](const Plan& p) { return 8 * infer::row_cells(*p); })
      .def_prop_ro("flops", [](const Plan& p) { return p->flops; })
      .def_prop_ro("order", [](const Plan& p) { return p->order.elimination; })
      .def_prop_ro("cliques", [](const Plan& p) { return p->order.cliques; })
      .def_prop_ro("tries", [](const Plan& p) { return p->order.tries; })
      .def_prop_ro("pruned", [](const Plan& p) { return p->relevant.pruned; })
      .def_prop_ro("targets", &Plan::targets)
      .def_prop_ro("offsets", &Plan::offsets)
      .def_prop_ro("family_offsets", [](const Plan& p) { return p->family_offsets; });
  nb::class_<Model>(m, "Model")
      .def(nb::init<Arities, Scopes>(), "arities"_a, "scopes"_a)
      .def("compile", door(&Model::compile), "observed"_a, "targets"_a.none(),
           "soft"_a = nb::list(), "mode"_a = "sum", "families"_a = false, "budget_ms"_a = -1.0,
           "seed"_a = 0, "directed"_a = true, "maybe"_a = nb::list(), "evidence"_a = true);
}

void bind_approximate(nb::module_& m) {
  m.def("weighted_sums", door(&doors::weighted_sums), "columns"_a, "arities"_a, "weights"_a,
        "threads"_a = 1);
  nb::class_<Loopy>(m, "Loopy")
      .def(nb::init<Arities, Scopes>(), "arities"_a, "scopes"_a)
      .def("run", door(&Loopy::run), "tables"_a, "sweeps"_a = 200, "tolerance"_a = 1e-8,
           "damping"_a = 0.0, "seconds"_a = -1.0)
      .def_prop_ro("offsets", &Loopy::offsets)
      .def_prop_ro("belief_offsets", &Loopy::belief_offsets);
  nb::class_<Gibbs>(m, "Gibbs")
      .def(nb::init<Arities, Scopes>(), "arities"_a, "scopes"_a)
      .def("run", door(&Gibbs::run), "tables"_a, "states"_a, "queries"_a, "sweeps"_a,
           "first"_a = 0, "seed"_a = 0, "collect"_a = true, "threads"_a = 1);
}

void bind_sampling(nb::module_& m) {
  m.def("normals", door(&doors::normals), "n"_a, "seed"_a, "stream"_a, "first"_a = 0,
        "threads"_a = 1);
  nb::class_<sample::Sampler>(m, "Sampler")
      .def(nb::init<Arities, Scopes>(), "arities"_a, "scopes"_a)
      .def_prop_ro("order", &sample::Sampler::order)
      .def("run", door(&doors::sample_rows), "tables"_a, "n"_a, "seed"_a, "first"_a = 0,
           "fixed"_a = nb::none(), "weights"_a = nb::none(), "threads"_a = 1, "path"_a = "auto");
}

void bind_naive(nb::module_& m) {
  m.def("naive_ranges", door(&doors::naive_ranges), "columns"_a);
  m.def("naive_counts", door(&doors::naive_counts), "columns"_a, "windows"_a, "group"_a,
        "groups"_a, "weights"_a = nb::none(), "threads"_a = 1);
  m.def("naive_moments", door(&doors::naive_moments), "columns"_a, "group"_a, "groups"_a,
        "weights"_a = nb::none(), "threads"_a = 1);
  m.def("naive_totals", door(&doors::naive_totals), "columns"_a, "group"_a, "groups"_a,
        "weights"_a = nb::none(), "threads"_a = 1, "present"_a = false, "gaps"_a = true);
  // These are done sooner than the GIL is let go.
  m.def("naive_usual_moments", &doors::naive_usual_moments, "n"_a, "mean"_a, "scatter"_a);
  m.def("naive_merged", &doors::naive_merged, "n"_a, "mean"_a, "scatter"_a, "other_n"_a,
        "other_mean"_a, "other_scatter"_a, "places"_a = nb::none());
  m.def("naive_gaussians", &doors::naive_gaussians, "n"_a, "mean"_a, "scatter"_a, "share"_a,
        "sample"_a, "prior"_a);
  m.def("naive_log_shares", &doors::naive_log_shares, "counts"_a, "smoothing"_a, "states"_a);
  m.def("naive_finish", door(&doors::naive_finish), "joint"_a, "answer"_a, "threads"_a = 1);
  nb::class_<NaiveScorer>(m, "NaiveScorer")
      .def(nb::init<const Reals&, const NaiveScorer::Singles&,
                    const std::vector<std::array<std::int64_t, 4>>&, const Matrix&, const Matrix&,
                    const Matrix&, const std::optional<Matrix>&>(),
           "bias"_a, "singles"_a, "pairs"_a, "tables"_a, "mean"_a, "variance"_a,
           "weights"_a = nb::none())
      .def("score", door(&NaiveScorer::score), "columns"_a, "windows"_a, "reals"_a, "n_rows"_a,
           "extra"_a = nb::none(), "answer"_a = "posterior", "threads"_a = 1,
           "counts"_a = nb::list(), "present"_a = false, "gaps"_a = true);
}

void bind_documents(nb::module_& m) {
  m.def("sparse_totals", door(&doors::sparse_totals), "begin"_a, "columns"_a, "values"_a,
        "n_columns"_a, "group"_a, "groups"_a, "weights"_a = nb::none(), "present"_a = false,
        "threads"_a = 1);
  m.def("sparse_joint", door(&doors::sparse_joint), "begin"_a, "columns"_a, "values"_a, "table"_a,
        "bias"_a, "present"_a = false, "threads"_a = 1);
  m.def("text_table", door(&doors::text_table), "totals"_a, "form"_a, "weight"_a, "smoothing"_a);
  m.def("log_kernel_density", door(&doors::log_kernel_density), "x"_a, "points"_a, "weights"_a,
        "width"_a);
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def("__init__", [](Vocabulary* self) { new (self) Vocabulary(binding::is_alphanumeric); })
      .def("__len__", &Vocabulary::size)
      .def("words", &binding::words_of)
      .def("add", &binding::add_words, "words"_a)
      .def("bags", &binding::bags_of, "documents"_a, "learn"_a, "shortest"_a = 1,
           "lower"_a = true);
}

void bind_mixtures(nb::module_& m) {
  nb::class_<MixtureRows>(m, "MixtureRows")
      .def(nb::init<Matrix, Ints, View<const std::uint8_t, 2>, View<const std::uint16_t, 2>, Ints,
                    std::optional<Reals>>(),
           "reals"_a, "starts"_a, "seen"_a, "codes"_a, "offset"_a, "weights"_a.none())
      .def("step", door(&MixtureRows::step), "log_weights"_a, "tables"_a, "means"_a,
           "covariances"_a, "joint"_a, "threads"_a = 1, "path"_a = "auto", "rooted"_a = false)
      .def("score", door(&MixtureRows::score), "log_weights"_a, "tables"_a, "means"_a,
           "covariances"_a, "joint"_a, "threads"_a = 1, "path"_a = "auto", "rooted"_a = false);
}

void bind_expectations(nb::module_& m) {
  m.def("complete_rows", door(&doors::complete_rows), "arities"_a, "scopes"_a, "theta"_a,
        "columns"_a, "rows"_a, "weights"_a.none(), "most"_a, "draws"_a, "most_states"_a,
        "seed"_a = 0);
  nb::class_<Expectations>(m, "Expectations")
      .def(nb::init<Arities, Scopes, std::uint64_t, std::uint64_t>(), "arities"_a, "scopes"_a,
           "most"_a, "most_mixed"_a)
      .def("add", door(&Expectations::add), "columns"_a, "rows"_a, "weights"_a = nb::none())
      .def("step", door(&Expectations::step), "theta"_a, "lines"_a, "threads"_a = 1)
      .def("left", &Expectations::left)
      .def("counted", &Expectations::counted)
      .def_prop_ro("problems", [](const Expectations& e) { return e.rows().problems().size(); })
      .def_prop_ro("shapes", [](const Expectations& e) { return e.rows().n_shapes(); })
      .def_prop_ro("total", [](const Expectations& e) { return e.rows().total; })
      .def_prop_ro("too_large", [](const Expectations& e) { return e.rows().too_large; });
}

void bind_scores(nb::module_& m) {
  nb::class_<KeptScores>(m, "FamilyScores")
      .def_static("columns", &KeptScores::of_columns, "columns"_a, "variables"_a,
                  "weights"_a.none(), "name"_a, "rows"_a, "ess"_a, "penalty"_a, "by_parents"_a,
                  "by_edge"_a.none(), "threads"_a)
      .def_static("counts", &KeptScores::of_counts, "arities"_a, "count"_a, "sparse"_a, "dense"_a,
                  "name"_a, "rows"_a, "ess"_a, "penalty"_a, "by_parents"_a, "by_edge"_a.none())
      .def_static("matrix", &KeptScores::of_matrix, "matrix"_a, "rows"_a, "bge"_a, "prior_rows"_a,
                  "freedom"_a, "prior_scale"_a, "penalty"_a, "by_parents"_a, "by_edge"_a.none())
      .def_static("function", &KeptScores::of_function, "n"_a, "function"_a, "by_parents"_a,
                  "by_edge"_a.none())
      .def_static("mixed", &KeptScores::of_mixed, "tables"_a, "moments"_a, "arities"_a, "rows"_a,
                  "penalty"_a, "like_all"_a, "most_numbers"_a, "by_parents"_a, "by_edge"_a.none(),
                  "threads"_a)
      .def("limit",
           [](KeptScores& self, std::optional<double> seconds) {
             self.limit({binding::ctrl_c_waits}, seconds);
           },
           "seconds"_a.none())
      .def("score", door(&KeptScores::score), "families"_a)
      .def_prop_ro("stopped", [](const KeptScores& self) { return self->stopped(); })
      .def_prop_ro("counters", &KeptScores::counters);
  m.def("log_complexity", &score::log_complexity, "n"_a, "k"_a);
  m.def("log_complexity_approximate", &score::log_complexity_approximate, "n"_a, "k"_a);
}

void bind_searches(nb::module_& m) {
  m.def("climb", door(&doors::climb), "scores"_a, "allowed"_a, "required"_a, "most"_a, "start"_a,
        "tabu"_a = 0, "patience"_a = 0, "downhill"_a = true, "restarts"_a = 0, "kicks"_a = 0,
        "most_steps"_a = 0, "polish"_a = 0, "lazy"_a = false, "alone"_a = 0, "around"_a = 0,
        "seed"_a = 0, "report"_a.none() = nb::none());
  m.def("anneal", door(&doors::anneal), "scores"_a, "allowed"_a, "required"_a, "most"_a,
        "start"_a, "hot"_a, "cold"_a, "steps"_a, "thin"_a = 0, "seed"_a = 0,
        "report"_a.none() = nb::none());
  nb::class_<ParentLists>(m, "ParentLists")
      .def(nb::init<std::shared_ptr<KeptScores>, const Marks&, const Marks&, const Numbers&>(),
           "scores"_a, "allowed"_a, "required"_a, "most"_a)
      .def("build", door(&ParentLists::build), "candidates"_a = search::kMostCandidates,
           "beam"_a = 0, "most"_a = 0, "report"_a.none() = nb::none())
      .def("reach", door(&ParentLists::reach), "pairs"_a, "by"_a, "report"_a.none() = nb::none())
      .def("add", door(&ParentLists::add), "parents"_a, "around"_a)
      .def("order", door(&ParentLists::order), "start"_a, "chains"_a = 4, "patience"_a = 100,
           "kicks"_a = 0, "seed"_a = 0, "threads"_a = 1, "turns"_a = false,
           "report"_a.none() = nb::none())
      .def("exact", door(&ParentLists::exact), "report"_a.none() = nb::none())
      .def("sets", &ParentLists::sets, "child"_a)
      .def_prop_ro("upper", &ParentLists::upper)
      .def_prop_ro("complete", &ParentLists::complete)
      .def_prop_ro("scored", &ParentLists::scored)
      .def_prop_ro("size", &ParentLists::size);
}

void bind_clusters(nb::module_& m) {
  m.def("gower_pairs", door(&doors::gower_pairs), "reals"_a, "codes"_a, "apart"_a,
        "threads"_a = 1);
  m.def("gower_between", door(&doors::gower_between), "reals_a"_a, "codes_a"_a, "reals_b"_a,
        "codes_b"_a, "apart"_a, "threads"_a = 1);
  m.def("spanning_tree", door(&doors::spanning_tree), "points"_a, "threads"_a = 1,
        "path"_a = "auto");
  m.def("links_of_tree", door(&doors::links_of_tree), "edges"_a, "lengths"_a);
  m.def("labels_of_links", door(&doors::labels_of_links), "links"_a, "merges"_a);
  m.def("links_of_points", door(&doors::links_of_points), "points"_a, "method"_a,
        "path"_a = "auto");
  m.def("links_of_ties", door(&doors::links_of_ties), "n"_a, "edges"_a, "strengths"_a, "average"_a,
        "most"_a);
  m.def("spread_of", door(&doors::spread_of), "values"_a, "weights"_a = nb::none());
  m.def("points_of", door(&doors::points_of), "columns"_a, "centres"_a = nb::none(),
        "scales"_a = nb::none());
  nb::class_<LloydRows>(m, "LloydRows")
      .def(nb::init<Matrix, std::optional<Reals>>(), "x"_a, "weights"_a = nb::none(),
           nb::call_guard<nb::gil_scoped_release>())
      .def("start", door(&LloydRows::start), "k"_a, "draws"_a, "threads"_a = 1, "path"_a = "auto")
      .def("climb", door(&LloydRows::climb), "centres"_a, "iterations"_a, "tolerance"_a,
           "threads"_a = 1, "path"_a = "auto")
      .def("near_ties", door(&LloydRows::near_ties), "centres"_a, "threads"_a = 1,
           "path"_a = "auto");
}

}  // namespace

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // tables that live until the interpreter ends are no leak
  m.doc() = "Kernels of credo: counts, unique rows and moments of columns; exact inference.";
  bind_families(m);
  bind_columns(m);
  bind_texts(m);
  bind_inference(m);
  bind_approximate(m);
  bind_sampling(m);
  bind_naive(m);
  bind_documents(m);
  bind_mixtures(m);
  bind_expectations(m);
  bind_scores(m);
  bind_searches(m);
  bind_clusters(m);
}
