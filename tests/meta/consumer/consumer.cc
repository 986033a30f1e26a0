// The same from C++, and an error's text.
#include <cairn/cairn.h>

#include <cstdio>
#include <cstring>

int main() {
  cairn_error_t err{};
  cairn_runtime_t *rt = nullptr;
  if (cairn_runtime_open(nullptr, &rt, &err) != CAIRN_OK ||
      cairn_runtime_close(rt, &err) != CAIRN_OK) {
    std::fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  if (std::strcmp(cairn_code_text(CAIRN_NOT_FOUND), "not found") != 0) return 2;
  std::puts("opened and closed from C++");
  return 0;
}
