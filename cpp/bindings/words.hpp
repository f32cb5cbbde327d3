// Texts and words of Python as UTF-8: what a vocabulary reads, document by document.
//
// Documents are read one at a time, so that a corpus is never held twice. Lone surrogates, which
// UTF-8 has no place for, go through as they are.
#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string_view>
#include <utility>

#include "bindings/casters.hpp"
#include "bindings/naive_text.hpp"

namespace credo::binding {

// Whether Python's str.isalnum says so.
inline bool is_alphanumeric(std::uint32_t point) {
  const nb::object text = nb::steal(PyUnicode_FromOrdinal(static_cast<int>(point)));
  return nb::cast<bool>(text.attr("isalnum")());
}

inline std::string_view utf8(nb::handle text, nb::object& held) {
  if (!PyUnicode_Check(text.ptr())) throw std::invalid_argument("A word must be a text.");
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data != nullptr) return {data, static_cast<std::size_t>(size)};
  PyErr_Clear();  // a lone surrogate
  held = text.attr("encode")("utf-8", "surrogatepass");
  char* bytes = nullptr;
  if (PyBytes_AsStringAndSize(held.ptr(), &bytes, &size) != 0) throw nb::python_error();
  return {bytes, static_cast<std::size_t>(size)};
}

inline nb::list words_of(const doors::Vocabulary& vocabulary) {
  nb::list out;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const std::string_view w = vocabulary.word(i);
    out.append(nb::steal(
        PyUnicode_DecodeUTF8(w.data(), static_cast<Py_ssize_t>(w.size()), "surrogatepass")));
  }
  return out;
}

inline void add_words(doors::Vocabulary& vocabulary, const nb::list& words) {
  for (const nb::handle word : words) {
    nb::object held;
    vocabulary.add_word(utf8(word, held));
  }
}

// Documents as rows of word counts; a document is a text, or a list of its words.
inline auto bags_of(doors::Vocabulary& vocabulary, const nb::list& documents, bool learn,
                    std::int64_t shortest, bool lower) {
  naive::Bags bags;
  std::size_t row = 0;
  for (const nb::handle document : documents) {
    if (++row % 4096 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    nb::object held, lowered;
    if (PyUnicode_Check(document.ptr())) {
      std::string_view text = utf8(document, held);
      if (lower && !doors::is_ascii(text)) {
        lowered = document.attr("lower")();
        text = utf8(lowered, held);
      }
      vocabulary.count_text(text, {learn, shortest, lower}, bags);
    } else {
      for (const nb::handle word : document)
        vocabulary.count_word(utf8(word, held), learn, bags);
    }
    bags.end_document();
  }
  return doors::sparse_rows(bags);
}

}  // namespace credo::binding
