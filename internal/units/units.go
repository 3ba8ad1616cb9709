// Package units names what calls use besides tokens of text.
package units

// Unit is something that a call uses and a price counts.
type Unit uint8

// The units. Tokens of sound and of pictures are also counted with all tokens of the prompt or of the
// completion.
const (
	AudioInput  Unit = iota // tokens of the prompt
	AudioOutput             // tokens of the completion
	ImageInput              // tokens of the prompt
	ImageOutput             // tokens of the completion
	Queries                 // search units of a ranking
	Images                  // pictures that were made
	Characters              // of a text that was spoken
	Millis                  // milliseconds of sound that was heard or made

	Number = iota
)

var names = [Number]string{
	"audio_input_tokens", "audio_output_tokens", "image_input_tokens", "image_output_tokens", "search_units", "images", "characters", "audio_ms",
}

// String returns the name of the unit in records and metrics.
func (u Unit) String() string { return names[u] }

// Counts has a number of each unit.
type Counts [Number]int64

// Some reports whether any number is not zero.
func (c Counts) Some() bool { return c != Counts{} }

// Output returns how many of them are tokens of the completion.
func (c Counts) Output() int64 { return c[AudioOutput] + c[ImageOutput] }

// Max returns the greater of each number.
func (c Counts) Max(other Counts) Counts {
	for u, n := range other {
		c[u] = max(c[u], n)
	}
	return c
}
