#pragma once
// The commands of the program. Each returns the exit status; errors come out as
// exceptions, which main turns into a sentence and a status.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/device_options.hpp"

#include "driver/prepared_run.hpp"
#include "driver/run_session.hpp"
#include "driver/throughput.hpp"

namespace crossbow {

struct RunRequest {
  DeckRequest deck;
  ResumeOptions resume;
  std::string json;  // file for the figures as data; empty: none
};

struct BenchRequest {
  DeckRequest deck;
  std::vector<int> batches = {2, 4, 8, 16, 32, 64};  // per learner
  std::vector<int> learners = {1, 2};
  MeasuringTime time;
  bool kernels = false;  // also time by kernel, of one learner
  std::string json;      // file for the tables as data; empty: none
};

struct ImportRequest {
  std::string format, source, file;
  std::string split = "train";
  std::string on_error = "stop";
  bool decode = false;
};

struct InspectRequest {
  std::string file;
  std::string png;  // file for a picture of samples; empty: none
};

struct EvaluateRequest {
  std::string checkpoint, data;
  std::string logits;  // .npz file for the logits of each image; empty: none
  DataSearch search;
};

struct PredictRequest {
  std::string checkpoint;
  std::vector<std::string> images;  // files
  int top = 1;                      // classes to print for each
};

struct ExportRequest {
  std::string checkpoint, file;
};

struct ImportWeightsRequest {
  std::string weights;
  DeckRequest deck;
  std::string file;
};

struct TopologyRequest {
  std::string xml, synthetic;  // the machine; both empty: this one
  bool host = false;           // its cores are the devices, whatever GPUs it has
  HostDomain domain = HostDomain::numa;  // where its cores are the devices
  int learners = 1;                      // on each device
  int threads = 1;                       // of each learner on a host
  std::int64_t model_bytes = 100'000'000;
  std::optional<std::string> json;  // file; empty: standard output; none: draw
  std::string svg;                  // file for a picture; empty: none
};

struct ModelRequest {
  std::string model;                   // a network's name, or a deck
  std::vector<std::string> overrides;  // "section.key=value"
  std::string image;                   // "HxWxC"; empty: the data's, or the usual ones
  std::optional<std::int64_t> classes;
  bool toml = false;  // print it as [[model.layer]] instead
  DataSearch search;
};

struct CompareRequest {
  std::vector<std::string> runs;  // folders of runs, or their history.csv
  std::string reference;          // folder of a regression case
  std::string renew;              // why the runs become the reference; empty: compare
};

int topology_command(const TopologyRequest& request);
int run_command(const RunRequest& request, char** argv);
int bench_command(const BenchRequest& request, char** argv);
int check_command(const DeckRequest& request, char** argv);
int keys_command(const std::string& file);
int import_command(const ImportRequest& request);
int inspect_command(const InspectRequest& request);
/// "28x28x1", or "different sizes x3".
std::string image_shape_text(const Dataset& data);
int evaluate_command(const EvaluateRequest& request);
int predict_command(const PredictRequest& request);
int export_command(const ExportRequest& request);
int model_command(const ModelRequest& request);
int import_weights_command(const ImportWeightsRequest& request);
/// 0 if all bands are kept, else 1.
int compare_command(const CompareRequest& request);

}  // namespace crossbow
