// Ctrl-C for work that ends early and answers with what it has (Monitor: for work that is dropped).
#pragma once

#include <functional>

namespace credo::doors {

// Whether it was pressed; asked on any thread. A door that it ends takes this first.
struct CtrlC {
  std::function<bool()> pressed;
};

}  // namespace credo::doors
