package rfb

// The encodings of rectangles whose form is known here (RFC 6143, section 7.7, and the community's
// description of RFB).
const (
	EncodingRaw       = 0
	EncodingCopyRect  = 1
	EncodingRRE       = 2
	EncodingCoRRE     = 4
	EncodingHextile   = 5
	EncodingZlib      = 6
	EncodingTight     = 7
	EncodingZRLE      = 16
	EncodingZYWRLE    = 17
	EncodingH264      = 50
	EncodingTightPNG  = -260
	EncodingCursor    = -239
	EncodingXCursor   = -240
	EncodingAlpha     = -314       // a cursor with transparency
	EncodingVMware    = 0x574d5664 // a cursor
	EncodingSize      = -223       // of the desktop
	EncodingScreens   = -308       // the same with a list of screens: ExtendedDesktopSize
	EncodingLast      = -224       // no rectangle follows, whatever the update's head says
	EncodingPointer   = -232       // where the pointer is
	EncodingVMwareAt  = 0x574d5666 // the same
	EncodingName      = -307       // of the desktop
	EncodingQEMUMove  = -257       // whether the pointer's movement is relative
	EncodingQEMUKeys  = -258       // key events may have a scan code
	EncodingQEMUAudio = -259
	EncodingQEMULEDs  = -261 // of the keyboard
	EncodingXVP       = -309
	EncodingButtons   = -316 // pointer events may have more buttons
	EncodingVMwareLED = 0x574d5668

	// EncodingExtendedClipboard is that ServerCutText and ClientCutText may have a negative length.
	EncodingExtendedClipboard = -0x3f5e1a32
)

// IsSetting reports whether a viewer lists an encoding only to say what it can, or wants: no rectangle
// has it. Quality and compression levels, fences and continuous updates are settings.
func IsSetting(encoding int32) bool { return formOf(encoding) == formSetting }
