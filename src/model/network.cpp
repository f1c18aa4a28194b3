#include "model/network.hpp"

#include "base/contract.hpp"

#include "kernels/elementwise.hpp"
#include "kernels/softmax_loss.hpp"

#include "model/gradient_sharing.hpp"

namespace crossbow {

template <class Exec>
Network<Exec>::Network(const Exec& exec,
                       const NetworkPlan& plan,
                       const NetworkOptions& options)
    : plan_(plan), options_(options) {
  make_nodes(exec);
  make_activations(exec);
  if (!options_.inference) {
    connect(exec);
  }
}

template <class Exec>
void Network<Exec>::make_nodes(const Exec& exec) {
  for (const LayerPlan& layer : plan_.layers) {
    Node node;
    node.layer = make_layer(exec, layer, plan_.batch_norm, options_);
    node.first_parameter = parameters_.size();
    node.layer->declare(parameters_, statistics_);
    node.parameter_count = parameters_.size() - node.first_parameter;
    nodes_.push_back(std::move(node));
  }
}

template <class Exec>
void Network<Exec>::make_activations(const Exec& exec) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto size =
        static_cast<std::size_t>(options_.batch * plan_.layers[i].out.size());
    Node& node = nodes_[i];
    node.y = make_buffer(exec, "crossbow::activation", size);
    node.data.y = as_span(node.y);
    node.data.x.resize(plan_.layers[i].inputs.size());
    node.data.dx.resize(plan_.layers[i].inputs.size());
    node.extra_dx.resize(plan_.layers[i].inputs.size());
    for (std::size_t input = 0; input < node.data.x.size(); ++input) {
      const int from = plan_.layers[i].inputs[input];
      if (from != network_input) {
        node.data.x[input] = as_span(nodes_[static_cast<std::size_t>(from)].y);
      }
    }
  }
  const auto n = static_cast<std::size_t>(options_.batch);
  result_.losses = make_buffer(exec, "crossbow::losses", n);
  result_.correct = make_buffer<std::int32_t>(exec, "crossbow::correct", n);
}

/// In backward order the first user of an activation writes its gradient; later ones
/// write into a buffer of their own, which is then added. So sums have one fixed order.
/// An addition hands its own gradient on where that is safe.
template <class Exec>
void Network<Exec>::connect(const Exec& exec) {
  std::vector<bool> written(nodes_.size(), false);
  const auto new_gradient = [&](std::size_t node) {
    return make_buffer(exec, "crossbow::activation_gradient", nodes_[node].y.extent(0));
  };
  nodes_.back().dy = new_gradient(nodes_.size() - 1);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node& node = nodes_[i];
    node.data.dy = as_span(node.dy);
    const std::vector<bool> shared = shared_gradients(plan_, i);
    for (std::size_t input = 0; input < node.data.dx.size(); ++input) {
      if (plan_.layers[i].inputs[input] == network_input) {
        continue;
      }
      const auto from = static_cast<std::size_t>(plan_.layers[i].inputs[input]);
      Buffer<Exec>& dx = written[from] ? node.extra_dx[input] : nodes_[from].dy;
      const bool is_extra_of_sum =
          written[from] && plan_.layers[i].type == LayerType::add;
      dx = shared[input] || is_extra_of_sum ? node.dy : new_gradient(from);
      node.data.dx[input] = as_span(dx);
      written[from] = true;
    }
  }
}

template <class Exec>
void Network<Exec>::bind(Span<Exec> weights,
                         Span<Exec> gradients,
                         Span<Exec> statistics) {
  for (Node& node : nodes_) {
    node.layer->bind(weights, gradients, statistics);
  }
}

template <class Exec>
BatchIdentity<Exec> Network<Exec>::identity(const Batch<Exec>& batch) const {
  return {batch.sample_ids, batch.epochs};
}

template <class Exec>
const BatchResult<Exec>& Network<Exec>::forward(const Exec& exec,
                                                const Batch<Exec>& batch,
                                                bool gradient,
                                                LayerObserver<Exec>* observer) {
  if (observer != nullptr) {
    observer->forward_begins();
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (std::size_t input = 0; input < nodes_[i].data.x.size(); ++input) {
      if (plan_.layers[i].inputs[input] == network_input) {
        nodes_[i].data.x[input] = batch.images;
      }
    }
    nodes_[i].layer->forward(exec, nodes_[i].data, identity(batch));
    if (observer != nullptr) {
      observer->forward_done(plan_.layers[i].name, nodes_[i].data.y);
    }
  }
  const Node& last = nodes_.back();
  const float smoothing =
      options_.inference ? 0 : static_cast<float>(options_.label_smoothing);
  softmax_cross_entropy<Exec>(exec,
                              {options_.batch, plan_.classes, smoothing},
                              last.data.y,
                              batch.labels,
                              {as_span(result_.losses),
                               as_span(result_.correct),
                               gradient ? last.data.dy : Span<Exec>()});
  if (observer != nullptr) {
    observer->loss_done();
  }
  return result_;
}

template <class Exec>
void Network<Exec>::backward(const Exec& exec,
                             const Batch<Exec>& batch,
                             GradientListener* listener,
                             LayerObserver<Exec>* observer) {
  CROSSBOW_EXPECT(!options_.inference);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node& node = nodes_[i];
    node.layer->backward(exec, node.data, identity(batch));
    for (std::size_t input = 0; input < node.extra_dx.size(); ++input) {
      if (node.extra_dx[input].extent(0) > 0) {
        const auto from = static_cast<std::size_t>(plan_.layers[i].inputs[input]);
        const Span<Exec> dy = nodes_[from].data.dy;
        add<Exec>(exec, dy, as_span(node.extra_dx[input]), dy);
      }
    }
    if (listener != nullptr && node.parameter_count > 0) {
      listener->gradient_ready(node.first_parameter, node.parameter_count);
    }
    if (observer != nullptr) {
      observer->backward_done();
    }
  }
}

#define CROSSBOW_INSTANTIATE(Exec) template class Network<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
