package screencall

import (
	"context"
	"image"

	"github.com/gatehouse-proxy/gatehouse/internal/computer"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

// size and place are a point in an answer.
type (
	size struct {
		Width  int `json:"width"`
		Height int `json:"height"`
	}
	place struct {
		X int `json:"x"`
		Y int `json:"y"`
	}
)

// InputAnswer is the answer to a request that acts.
type InputAnswer struct {
	SessionID    string  `json:"session_id"`
	Done         int     `json:"done"`                    // actions
	Control      string  `json:"control"`                 // who holds the input now: agent, human or none
	ChangedHands bool    `json:"changed_hands,omitempty"` // a person has had it since the last answer
	Unconfirmed  string  `json:"unconfirmed,omitempty"`   // characters that the workstation may not have typed
	Settled      bool    `json:"settled"`                 // nothing had changed on the desktop for quiet_ms
	Size         size    `json:"size"`                    // of the desktop
	Space        size    `json:"space"`                   // of coordinates in this answer: the next request repeats it
	Cursor       place   `json:"cursor"`                  // where the pointer was sent last, in this space
	Screenshot   picture `json:"screenshot"`
}

// picture is what the desktop shows.
type picture struct {
	MediaType string `json:"media_type"`
	SHA256    string `json:"sha256"`         // names the pixels
	Changed   bool   `json:"changed"`        // it is not the one that the caller has
	Data      []byte `json:"data,omitempty"` // nil unless Changed
}

// Input runs the actions of a request body on a desktop. admit lets the request go on, and returns the body
// that takes the place of its own, nil for none; then open connects to the desktop.
func Input(ctx context.Context, body []byte, admit func([]byte) ([]byte, error), open func() (*screen.Screen, error)) (InputAnswer, error) {
	request, err := computer.Parse(body)
	if err != nil {
		return InputAnswer{}, err
	}
	edited, err := admit(body)
	if err != nil {
		return InputAnswer{}, err
	}
	if edited != nil {
		if request, err = computer.Parse(edited); err != nil {
			return InputAnswer{}, err
		}
	}
	desk, err := open()
	if err != nil {
		return InputAnswer{}, err
	}
	defer desk.Release()
	result, err := request.Run(ctx, desk)
	if err != nil {
		return InputAnswer{}, err
	}
	session, shot := desk.Session(), result.Shot
	return InputAnswer{
		SessionID: session.ID, Done: result.Done, Control: session.Input.Holder(), ChangedHands: session.Input.ChangedHands(),
		Unconfirmed: result.Unconfirmed, Settled: shot.Settled, Size: sizeOf(shot.Size), Space: sizeOf(result.Space), Cursor: place(result.Cursor),
		Screenshot: picture{MediaType: "image/png", SHA256: shot.ETag, Changed: shot.Changed, Data: shot.PNG},
	}, nil
}

func sizeOf(p image.Point) size { return size{p.X, p.Y} }
