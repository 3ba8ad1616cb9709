package testcard

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The handshake (RFC 6143, section 7.1 to 7.3), RFB 3.8 with security type None:
//
//	card                                viewer
//	"RFB 003.008\n"                ->
//	                               <-   "RFB 003.008\n"
//	u8 1, u8 1 (None)              ->
//	                               <-   u8 1
//	u32 0 (SecurityResult, ok)     ->
//	                               <-   u8 shared (there is nobody to share with)
//	ServerInit                     ->
//
//	ServerInit   u16 width, u16 height, pixel format (16 bytes), u32 length, name
const (
	version      = "RFB 003.008\n"
	securityNone = 1
	resultOK     = 0
	resultFailed = 1
)

func greet(conn io.ReadWriter, o Options) error {
	var in [len(version)]byte
	if err := exchange(conn, []byte(version), in[:]); err != nil {
		return err
	}
	if string(in[:]) != version {
		return fmt.Errorf("the viewer's version is %q, want %q", in[:], version)
	}
	if err := exchange(conn, []byte{1, securityNone}, in[:1]); err != nil {
		return err
	}
	if in[0] != securityNone {
		const reason = "only security type None is offered"
		refusal := binary.BigEndian.AppendUint32(nil, resultFailed)
		refusal = binary.BigEndian.AppendUint32(refusal, uint32(len(reason)))
		_, _ = conn.Write(append(refusal, reason...)) // said, or the viewer is gone: it ends either way
		return fmt.Errorf("the viewer chose security type %d", in[0])
	}
	if err := exchange(conn, binary.BigEndian.AppendUint32(nil, resultOK), in[:1]); err != nil {
		return err
	}
	init := binary.BigEndian.AppendUint16(nil, uint16(o.Width))
	init = binary.BigEndian.AppendUint16(init, uint16(o.Height))
	init = initialFormat.append(init)
	init = binary.BigEndian.AppendUint32(init, uint32(len(o.Name)))
	return exchange(conn, append(init, o.Name...), nil)
}

// exchange says out and hears in.
func exchange(conn io.ReadWriter, out, in []byte) error {
	if _, err := conn.Write(out); err != nil {
		return errGone
	}
	return readFull(conn, in)
}
