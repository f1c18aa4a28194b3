#include "kernels/onednn/support.hpp"

#include <algorithm>

#include "base/contract.hpp"

namespace crossbow::onednn {
namespace {

using dnnl::memory;

std::size_t floats_of(const memory::desc& desc) {
  return (desc.get_size() + sizeof(float) - 1) / sizeof(float);
}

void reorder_now(const memory::desc& from,
                 const float* source,
                 const memory::desc& to,
                 float* target) {
  const dnnl::engine& engine = host_engine();
  dnnl::stream stream(engine);
  memory a(from, engine, const_cast<float*>(source));
  memory b(to, engine, target);
  dnnl::reorder(a, b).execute(stream, a, b);
  stream.wait();
}

}  // namespace

// Primitive descriptors keep a bare pointer to their engine, so it has to live as long as
// the program.
const dnnl::engine& host_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::desc descriptor(const memory::dims& dims, memory::format_tag tag) {
  return memory::desc(dims, memory::data_type::f32, tag);
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

OnednnLayout::OnednnLayout(memory::desc own,
                           memory::desc plain,
                           std::vector<std::int64_t> order)
    : own_(std::move(own)), plain_(std::move(plain)) {
  if (!order.empty()) {
    order_ = std::make_unique<PermutedLayout>(std::move(order));
  }
}

std::int64_t OnednnLayout::size() const {
  return static_cast<std::int64_t>(floats_of(own_));
}

void OnednnLayout::pack(std::span<const float> exchange, std::span<float> own) const {
  std::fill(own.begin(), own.end(), 0.0F);
  if (order_ == nullptr) {
    reorder_now(plain_, exchange.data(), own_, own.data());
    return;
  }
  std::vector<float> permuted(exchange.size());
  order_->pack(exchange, permuted);
  reorder_now(plain_, permuted.data(), own_, own.data());
}

void OnednnLayout::unpack(std::span<const float> own, std::span<float> exchange) const {
  if (order_ == nullptr) {
    reorder_now(own_, own.data(), plain_, exchange.data());
    return;
  }
  std::vector<float> permuted(exchange.size());
  reorder_now(own_, own.data(), plain_, permuted.data());
  order_->unpack(permuted, exchange);
}

Call::Call(const dnnl::primitive& primitive, const memory::desc& scratchpad)
    : primitive_(primitive), stream_(host_engine()), scratchpad_(floats_of(scratchpad)) {
  arguments_.emplace(DNNL_ARG_SCRATCHPAD,
                     memory(scratchpad, host_engine(), scratchpad_.data()));
}

void Call::declare(int index, const memory::desc& desc) {
  arguments_.emplace(index, memory(desc, host_engine(), DNNL_MEMORY_NONE));
}

void Call::bind(int index, const float* data) {
  const auto argument = arguments_.find(index);
  CROSSBOW_EXPECT(argument != arguments_.end());
  argument->second.set_data_handle(const_cast<float*>(data));
}

void Call::execute() {
  primitive_.execute(stream_, arguments_);
}

Relayout::Relayout(const memory::desc& from, const memory::desc& to) {
  if (from == to) {
    return;
  }
  const dnnl::engine& engine = host_engine();
  from_ = memory(from, engine, DNNL_MEMORY_NONE);
  to_ = memory(to, engine, DNNL_MEMORY_NONE);
  reorder_ = dnnl::reorder(from_, to_);
  stream_ = dnnl::stream(engine);
}

const float* Relayout::read(const float* data) {
  if (!needed()) {
    return data;
  }
  own_to_.resize(floats_of(to_.get_desc()));
  run(const_cast<float*>(data), own_to_.data());
  return own_to_.data();
}

float* Relayout::write_target(float* data) {
  if (!needed()) {
    return data;
  }
  own_from_.resize(floats_of(from_.get_desc()));
  return own_from_.data();
}

void Relayout::finish(float* data) {
  if (needed()) {
    run(own_from_.data(), data);
  }
}

void Relayout::run(float* from, float* to) {
  from_.set_data_handle(from);
  to_.set_data_handle(to);
  reorder_.execute(stream_, from_, to_);
}

}  // namespace crossbow::onednn
