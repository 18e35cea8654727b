// The form of a reply has no behaviour of its own beside its marks.
import { startMarking } from "../js/marking.js";

startMarking();
