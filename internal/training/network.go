package training

import (
	"math"
	"slices"

	"github.com/grounded-memory/grounded/internal/rank"
	"github.com/grounded-memory/grounded/internal/rank/bank"
)

// The shapes of the networks and their fixed-point scales: see package bank for
// what the whole numbers compute. A float weight w of a hidden unit is stored as
// w·32, a bias b as b·4096, an output weight v as v·128, so that the output comes
// in the units of the BM25 feature.
const (
	inputs      = rank.FeatureCount
	hidden      = bank.MaxHidden
	inputShift  = 7 // 0 … 16,384 becomes 0 … 128
	hiddenShift = 5
	weightScale = 1 << hiddenShift
	biasScale   = 128 << hiddenShift
	outputScale = 128
	maxHidden   = 255.0 / 128
	maxWeight   = 127.0 / weightScale
	maxOutput   = 127.0 / outputScale
	maxCautious = 3.0 / outputScale // where there is little to gain and much to lose
	sharpness   = 6                 // of the softmax over candidates
)

// network is a policy in training. Products are rounded before they are added
// (the conversions forbid fused operations), so every machine trains the same.
type network struct {
	weights [hidden][inputs]float64
	biases  [hidden]float64
	outputs [hidden]float64
}

// candidate is one note of an example.
type candidate struct {
	x     [inputs]float64 // features from 0 to 1
	grade float64
}

// example is one question with its candidates; one of them at least is relevant.
type example []candidate

// newNetwork begins with the hand rule that package rank calls context, where a
// purpose has neighbours and speakers, and with next to nothing in the other
// units. The decay of the weights pulls them back to it.
func newNetwork(r *random, recipe *Recipe) *network {
	n := &network{}
	for j := range n.weights {
		for _, i := range recipe.Features {
			n.weights[j][i] = (r.float() - 0.5) * 0.7
		}
		n.biases[j] = r.float() * 0.1
		n.outputs[j] = (r.float() - 0.5) * 0.2
	}
	if recipe.Context {
		for j, rule := range []struct {
			feature int
			weight  float64
		}{{rank.WindowCoverage, 0.4}, {rank.SpeakerNamed, 0.15}, {rank.OtherNamed, -0.15}} {
			if !slices.Contains(recipe.Features, rule.feature) {
				continue
			}
			n.weights[j] = [inputs]float64{}
			n.weights[j][rule.feature] = 1
			n.biases[j] = 0
			n.outputs[j] = rule.weight
		}
	}
	return n
}

// float returns a number from 0 to 1.
func (r *random) float() float64 { return float64(r.next()>>11) / (1 << 53) }

// forward computes the correction, and the hidden units before they are cut off.
func (n *network) forward(x *[inputs]float64, units *[hidden]float64) float64 {
	y := 0.0
	for j := range n.weights {
		sum := n.biases[j]
		for i, w := range n.weights[j] {
			sum += float64(w * x[i])
		}
		units[j] = sum
		y += float64(n.outputs[j] * cut(sum))
	}
	return y
}

func cut(h float64) float64 { return max(0, min(maxHidden, h)) }

// gradient adds the gradient of an example's loss, the cross entropy between
// the softmax of the scores and the grades, to g.
func (n *network) gradient(e example, limit float64, g *network) {
	units := make([][hidden]float64, len(e))
	scores := make([]float64, len(e))
	raw := make([]float64, len(e))
	most, grades := math.Inf(-1), 0.0
	for i := range e {
		raw[i] = n.forward(&e[i].x, &units[i])
		scores[i] = sharpness * (e[i].x[rank.BM25ToBest] + max(-limit, min(limit, raw[i])))
		most = max(most, scores[i])
		grades += e[i].grade
	}
	sum := 0.0
	for i := range scores {
		scores[i] = math.Exp(scores[i] - most)
		sum += scores[i]
	}
	for i := range e {
		if raw[i] <= -limit || raw[i] >= limit {
			continue
		}
		d := sharpness * (float64(scores[i]/sum) - float64(e[i].grade/grades))
		for j := range n.outputs {
			h := units[i][j]
			g.outputs[j] += float64(d * cut(h))
			if h <= 0 || h >= maxHidden {
				continue
			}
			dh := float64(d * n.outputs[j])
			g.biases[j] += dh
			for k := range g.weights[j] {
				g.weights[j][k] += float64(dh * e[i].x[k])
			}
		}
	}
}

// flat lists all parameters, for the optimiser.
func (n *network) flat() []*float64 {
	var out []*float64
	for j := range n.weights {
		for i := range n.weights[j] {
			out = append(out, &n.weights[j][i])
		}
		out = append(out, &n.biases[j], &n.outputs[j])
	}
	return out
}

// adam is the optimiser of Kingma and Ba (2014) with decay of the weights.
type adam struct {
	first, second []float64
	start         []float64 // what decay pulls the weights back to
	steps         int
}

const (
	rate    = 0.003 // at the beginning; a tenth of it at the end
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
	decay   = 0.2
)

// step goes against the gradient; done is the share of the training that is over.
func (a *adam) step(n, g *network, share, done float64, recipe *Recipe) {
	g.mask(recipe.Features)
	params, grads := n.flat(), g.flat()
	if a.first == nil {
		for _, p := range params {
			a.start = append(a.start, *p)
		}
		a.first, a.second = make([]float64, len(params)), make([]float64, len(params))
	}
	a.steps++
	c1, c2 := 1-math.Pow(beta1, float64(a.steps)), 1-math.Pow(beta2, float64(a.steps))
	for i, p := range params {
		d := float64(*grads[i] * share)
		a.first[i] = float64(beta1*a.first[i]) + float64((1-beta1)*d)
		a.second[i] = float64(beta2*a.second[i]) + float64((1-beta2)*float64(d*d))
		*p -= float64(float64(rate*(1-float64(0.9*done))) * (float64(a.first[i]/c1)/(math.Sqrt(a.second[i]/c2)+epsilon) + float64(decay*(*p-a.start[i]))))
	}
	n.clip(recipe.maxOutput())
}

// mask clears the gradients of features that a recipe does not use.
func (n *network) mask(features []int) {
	for j := range n.weights {
		var kept [inputs]float64
		for _, i := range features {
			kept[i] = n.weights[j][i]
		}
		n.weights[j] = kept
	}
}

// clip keeps parameters within what eight bits can say, and the output weights of
// a cautious recipe within what may help but not wreck.
func (n *network) clip(most float64) {
	for j := range n.weights {
		for i := range n.weights[j] {
			n.weights[j][i] = max(-maxWeight, min(maxWeight, n.weights[j][i]))
		}
		n.biases[j] = max(-7, min(7, n.biases[j]))
		n.outputs[j] = max(-most, min(most, n.outputs[j]))
	}
}

// policy rounds the network to whole numbers.
func (n *network) policy(purpose, member int, limit int32) bank.Policy {
	p := bank.Policy{Purpose: purpose, Member: member, Inputs: inputs, Hidden: hidden, HiddenShift: hiddenShift, Limit: limit}
	for i := range inputs {
		p.InputShift[i] = inputShift
	}
	for j := range n.weights {
		for i, w := range n.weights[j] {
			p.Weights[j][i] = int8(math.Round(w * weightScale))
		}
		p.Biases[j] = int16(math.Round(n.biases[j] * biasScale))
		p.OutputWeights[j] = int8(math.Round(n.outputs[j] * outputScale))
	}
	return p
}
