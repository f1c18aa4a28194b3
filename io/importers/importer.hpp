#pragma once
// The table of importers: what `crossbow import` is given by name, and a deck's data by
// what they look like.

#include <span>
#include <string>

#include "io/importers/import_job.hpp"

namespace crossbow {

/// What identifies a source: a text for people, and the SHA-256 of its bytes.
struct SourceIdentity {
  std::string text;
  std::string digest;
};

struct Importer {
  const char* name;  // "cifar10"
  const char* help;  // what a source of it is
  bool (*recognises)(const std::string& source);
  /// As an import sets `source` and `digest`, without importing.
  SourceIdentity (*identify)(const std::string& source, Split split);
  ImportResult (*import)(const std::string& source, const ImportOptions& options);
};

/// Return all importers; of several that recognise a source the first is right.
std::span<const Importer> importers();

/// Return the importer of that name, or the first that recognises `source`; nullptr if
/// there is none.
const Importer* importer_named(const std::string& name);
const Importer* importer_for(const std::string& source);

}  // namespace crossbow
