package gateway

// maxReplays bounds the recordings that a gateway plays or exports at once: each decodes, and has up to
// 200 MiB.
const maxReplays = 8

// Replay begins to play or export a recording. The caller calls release at its end; nil: there are too
// many.
func (v VNC) Replay() (release func()) {
	replays := v.gateway.state.replays
	select {
	case replays <- struct{}{}:
		return func() { <-replays }
	default:
		return nil
	}
}
