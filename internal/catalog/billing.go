package catalog

import (
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// How the answers of a model are billed that are no text alone.

// PerPicture reports whether an answer is paid by the number of its pictures alone.
func (p *Price) PerPicture() bool {
	return p != nil && p.Units[units.Images].Known && p.Completion.Rate == 0 && p.Units[units.ImageOutput].Rate == 0
}

// PerSound reports whether an answer that is sound is paid by its tokens, or by the second. It may be
// paid by tokens if nothing else has a rate.
func (p *Price) PerSound() (perToken, perSecond bool) {
	if p == nil {
		return true, false
	}
	perSecond = p.Units[units.Millis].Rate > 0
	return p.Completion.Rate+p.Units[units.AudioOutput].Rate > 0 || !perSecond && !p.Units[units.Characters].Known, perSecond
}

// PerHeard reports whether a transcript is paid by tokens, as PerSound does, and whether those of the
// sound have a rate of their own.
func (p *Price) PerHeard() (perToken, ownRate bool) {
	if p == nil {
		return true, false
	}
	ownRate = p.Units[units.AudioInput].Known
	return ownRate || p.Prompt.Rate+p.Completion.Rate > 0 || !p.Units[units.Millis].Known, ownRate
}

// PicturesApart reports whether tokens of pictures in an answer cost more than those of text, so that a
// usage must say which they are.
func (p *Price) PicturesApart() bool {
	return p != nil && p.Units[units.ImageOutput].Rate > p.Completion.Rate
}
